// Package names has the names of operations, floors and contenders, as files and tables have them.
//
// Names are part of the format of results: a file of an older run is read with them. Nothing here measures.
package names
