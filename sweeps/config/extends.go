package config

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"grposim/configs"
)

// extendsKey names the preset or the file whose keys a file takes over.
const extendsKey = "extends"

// presetFolder is the folder of the embedded presets, NAME.yaml each.
const presetFolder = "configs/presets"

// Presets returns the names of the presets, each the defaults of the trainer of that name
// (docs/trainers.md).
func Presets() []string {
	entries, err := fs.ReadDir(configs.Files, path.Base(presetFolder))
	if err != nil {
		panic(err) // the folder is embedded
	}
	return Each(entries, func(e fs.DirEntry) string { return strings.TrimSuffix(e.Name(), ".yaml") })
}

// readPreset returns the content of an embedded file in presetFolder.
func readPreset(file string) (data []byte, problem string) {
	data, err := configs.Files.ReadFile(path.Join(path.Base(presetFolder), path.Base(file)))
	if err != nil {
		return nil, reason(err)
	}
	return data, ""
}

// tree parses the last file of a chain, each of which the one before extends, and adds to
// it what it takes over. Function read returns the content of a file, or a problem. The name
// of a preset is that preset, not a file.
func (l *loader) tree(chain []string, data []byte, read reading) *node {
	file := chain[len(chain)-1]
	l.files = chain
	root, problems := parseYAML(file, "", data)
	named := func(f field) bool { return slices.Contains(fileNames(), f.name) }
	isConfiguration := root != nil && slices.ContainsFunc(root.fields, named)
	// without any text of it: only the reader of this machine may read it
	if len(chain) > 1 && !isConfiguration {
		problems = Wrong(file, "got a file that is no configuration, want a configuration")
		root = nil
	}
	l.problems = append(l.problems, problems...)
	if root == nil {
		return nil
	}
	i := slices.IndexFunc(root.fields, func(f field) bool { return f.name == extendsKey })
	if i < 0 {
		return root
	}
	name := root.fields[i].value
	root.fields = slices.Delete(root.fields, i, i+1)
	if len(chain) == 1 {
		l.extends = name.at
	}
	presets := "a preset: " + listWords(Presets())
	if !name.isScalar() {
		l.want(name, extendsKey, "the name of a file, or of "+presets)
		return root
	}
	other := name.text
	switch {
	case slices.Contains(Presets(), other):
		other, read = path.Join(presetFolder, other+".yaml"), readPreset
	case !filepath.IsAbs(other):
		other = filepath.Join(filepath.Dir(file), other)
	}
	switch {
	case slices.Contains(chain, other):
		l.want(name, extendsKey, "a file that does not extend this one")
		return root
	case len(chain) > maxDepth: // a folder that links to itself has files of any number
		l.want(name, extendsKey, fmt.Sprintf("a chain of at most %d files", maxDepth))
		return root
	}
	data, problem := read(other)
	if problem != "" {
		if !strings.ContainsAny(name.text, "./") {
			problem += ", or " + presets + DidYouMean(strings.ToLower(name.text), Presets())
		}
		l.problem(name.at, extendsKey, "%s: %s", quoteText(name.text), problem)
		return root
	}
	if parent := l.tree(append(chain, other), data, read); parent != nil { // else reported
		own := func(f field) bool { return f.name == "name" || f.name == "claim" }
		parent.fields = slices.DeleteFunc(parent.fields, own)
		root.inherit(parent, "")
	}
	return root
}

// atExtends moves problems of how keys go together, those from index first on, that lie in
// a file that is taken over: to the line of the reader's file that takes it over. There the
// reader can set the key; the other file, which may be built in, is right by itself.
func (l *loader) atExtends(first int) {
	for i := range l.problems[first:] {
		p := &l.problems[first+i]
		if p.Source == override || len(l.files) < 2 || p.Source == l.files[0] {
			continue
		}
		from := p.Place.String()
		if preset, is := strings.CutPrefix(p.Source, presetFolder+"/"); is {
			from = "preset " + strings.TrimSuffix(preset, ".yaml") + ", " + from
		}
		got, want, _ := strings.Cut(p.Text, ", want ")
		cure := ": set " + p.Key
		if list, _, in := strings.Cut(p.Key, "["); in && keyIndex(p.Key) < 0 {
			cure = ", or other " + list
		}
		p.Place, p.Text = l.extends, fmt.Sprintf("%s (%s), want %s%s in this file", got, from, want, cure)
	}
}

// inherit adds the fields of parent that n does not have. Sections are joined key by key;
// any other value is taken over as a whole.
func (n *node) inherit(parent *node, path string) {
	for _, f := range parent.fields {
		i := slices.IndexFunc(n.fields, func(own field) bool { return own.name == f.name })
		if i < 0 {
			n.fields = append(n.fields, f)
			continue
		}
		inner := strings.TrimPrefix(path+"."+f.name, ".")
		own, isSection := n.fields[i].value, len(sectionNames(inner)) > 0
		if isSection && own.kind == mapping && f.value.kind == mapping {
			own.inherit(f.value, inner)
		}
	}
}
