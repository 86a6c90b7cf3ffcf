// Package workdirs finds the directories in which an agent works beside its project, where the events of its
// hooks do not name them: on its command line, in its settings, in its record of the session, and in what an
// editor tells it.
//
// A directory counts if it is there and if the agent is meant to work in it, see [Sources.Roots].
// Settings also list directories that an agent may only read or fill, such as the one for temporary
// files. They do not go back with a turn: this would harm other programs.
package workdirs
