// Package config reads the YAML configuration of a sweep, checks it completely, expands
// it into cells, and writes it back.
//
// A file passes through these steps:
//
//  1. parseYAML (yaml.go) turns the bytes into a tree of nodes: scalars, lists and
//     mappings, each with its line and column. It refuses all other YAML.
//     A file that extends another takes over its fields (extends.go).
//  2. The loader (load.go, decode_*.go, check.go) decodes the tree by tables of
//     keys and applies the overrides of the command line; reader.go decodes single values.
//  3. validate (validate.go) expands the grids and applies the rules between
//     keys and the requirements of claims on cells (rules.yaml), and the rules for checks that
//     share a cell.
//  4. [Load] returns a complete [Spec] (spec.go), or [Problems]: all errors at once, each
//     as file:line:column: key: got X, want Y.
//  5. From the Spec, [Spec.Points] lists the cells (expand.go), [Canonical] writes the
//     settings of one cell for its id, and [Spec.Document] writes the whole
//     configuration for a results folder (document.go).
//
// A key is one row of keys.yaml: its name, values, default, meaning and place in a Go value
// (table.go). The keys of other mappings are lists of parts. Decoding, the document, and in tests
// the schema and the reference, are derived from these tables and from [Claims].
//
// A claim has two halves. Here is what a file can ask for: its name, requirements,
// and predictions (claims.go), and what it says (claims.yaml). What is measured is in package
// claim, how it is judged in package judge.
package config
