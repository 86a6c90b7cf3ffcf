// Package dav shows checkpoints as a file system of golang.org/x/net/webdav that nothing can write to.
//
//	/                      the projects where there are several, else the checkpoints of the only one
//	/<project>/            its checkpoints, by project id or by the name that a listing gives
//	/<checkpoint>/         a checkpoint of the default project
//	/<project>/<checkpoint>/<path>
//
// A checkpoint is named by anything that names one elsewhere, @ included, or by the name that a
// listing gives: its time and the beginning of its id. Names of files are bytes. A symlink is a file
// whose content is its target: following it could lead out of the checkpoint. The time of every file
// is that of its checkpoint, which holds no other. The entity tag is the id of the content, so that a
// client may keep what it has read of one checkpoint for another.
//
// A file is read from the store as it is sent. A reader that stops in the middle of a large file, as
// that of a range does, waits for the next range ([Readers]), so that a client which asks for one
// range after another has every byte inflated once.
package dav
