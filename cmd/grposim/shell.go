package main

import (
	"regexp"
	"strings"
)

var plainWord = regexp.MustCompile(`^[\w./:=,+@%-]+$`)

// shellQuote quotes words for a POSIX shell.
func shellQuote(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		if quoted[i] = word; !plainWord.MatchString(word) {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// pathWord returns a path that a command does not read as a flag.
func pathWord(path string) string {
	if strings.HasPrefix(path, "-") {
		return "./" + path
	}
	return path
}

// checkWord returns a usage error if a word of a script that is written has a character that is
// not seen. Quotes would keep its meaning, but not every place: a line feed can end a
// here-document, and with it the words around it, and stdout escapes the others (printable).
func checkWord(what, word string) error {
	if escape(word, "") != word {
		return misuse("%s: got %q, want no line break and no other character that is not seen",
			what, word)
	}
	return nil
}
