// Package mutants checks that the tests notice faults, which it plants one by one. A fault
// is either drawn from the syntax of a package (generate_test.go), where it is an operator,
// a bound, a condition, a term, a constant or a statement, or a row of a table
// (table_test.go), where it is wrong in what the code means.
//
// A fault is planted with the -overlay flag of the go command, so no source file changes
// and several faults can be tried at a time.
package mutants
