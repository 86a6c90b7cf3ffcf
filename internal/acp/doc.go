// Package acp stands between an editor and an agent that speak the Agent Client Protocol
// (JSON-RPC 2.0, one message a line), and records the agent's turns.
//
// Every message is passed on as it came, in the same order, whatever its method. A message of any
// size is read in bounded memory: the parts that say something about turns are kept, long texts are
// cut. The newline that completes a message is passed on last, so a message can wait although it is
// longer than what is kept.
//
// # The record
//
// A session of the protocol is a session of cairn under the same id. A session/prompt begins a turn,
// its answer ends the turn. Tool calls that can write are steps. The events go to cairn's hooks in
// the neutral protocol of package hooks.
//
// A tool call is announced if the agent asks the editor before it writes: session/request_permission,
// fs/write_text_file or terminal/create. The request waits until the state before the step is
// captured. What changed since the turn's last state is then the user's.
//
// A tool call is unannounced if session/update only tells of it. The tool may write at any time, so
// its step is recorded when it has ended, with all that changed since the turn's last state. The
// prompt captures the first such state. The prompt waits for that capture until the agent is known
// to announce its tools.
//
// # Additions
//
// The list of the agent's slash commands gets those of cairn, and the proxy answers a prompt that names
// one of them. After an undo, here or by another way, the next prompt gets a text that tells the agent
// of it: a prompt waits until cairn's hooks have answered the event "news". A failure of cairn is told
// to the user once in a session, as a message in the conversation; the agent goes on.
package acp
