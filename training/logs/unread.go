package logs

// unread are the lines of a text that look like metrics and were not understood.
type unread struct {
	first []string // the first of them, with their numbers
	more  int      // number of further ones
}

// shownUnread is how many of them are quoted.
const shownUnread = 3

// add remembers a line and why it was not understood.
func (u *unread) add(line int, text, why string) {
	if len(u.first) == shownUnread {
		u.more++
		return
	}
	u.first = append(u.first, oneLine("Line %d, %s, was not understood: %s.", line, quote(text), why))
}

// notes returns the notes about them.
func (u *unread) notes() []string {
	if u.more == 0 {
		return u.first
	}
	return append(u.first, oneLine("%d more were not understood.", u.more))
}
