// Package syntax finds what in a line of source text is a comment, a string, a
// keyword and so on, for colours on a page.
//
// It is a reader's aid and no parser: a table says for each language how comments
// and strings begin and end and which words are its own, and one scanner serves all.
// It takes time linear in the text, whatever the text is; it works line by line and
// carries only what is open at a line's end, so that any part of a file can be
// coloured after one pass. Where it errs (a here-document, a regular expression in an
// unusual place) colours are wrong and nothing else.
//
// Why no library: the lexers of chroma v2.27 cost 29 ms and 2.7 MB at the start of
// every process that links them, which is several times what cairn track takes, and
// their regular expressions read 0.6 MB/s, seconds for a diff of 10,000 lines.
package syntax
