// The JSON that cairn speaks, as docs/json.md describes it, and the questions that this
// extension asks. A path counts from the root, with "/"; pathtext.ts carries its bytes.

export interface Work {
  sessionID: string
  messageID?: string
  agent?: string
  model?: string
  prompt?: string
  changed: number
}

export interface Checkpoint {
  id: string
  hash: string
  time: string
  author: string
  message: string
  parent?: string
  work?: Work
}

export interface Session {
  id: string
  title?: string
  agent?: string
  model?: string
  root: string
  created: string
  updated: string
  messages: number
  steps: number
  open?: string
  parentID?: string
  latest?: Work
  revert?: { messageID: string; partID?: string }
  error?: string // why it cannot be read; then only id and root are known
}

export interface Step {
  id: string
  before: { id: string; hash: string }
  after?: { id: string; hash: string }
  began: string
  ended?: string
  agent?: string
  model?: string
  patch: { hash: string; files: string[] }
  reverted?: boolean
}

export interface Message {
  id: string
  role?: string
  prompt?: string
  created: string
  agent?: string
  reverted?: boolean
  commits?: string[]
  steps: Step[]
}

export type Status = "added" | "modified" | "deleted"

export interface Change {
  path: string
  status: Status
}

export interface Hunk {
  id: string
  header: string
  oldStart: number
  oldLines: number
  newStart: number
  newLines: number
  lines: string[]
  whole?: boolean
}

export interface PathReason {
  path: string
  reason: string
}

export interface Result extends Share {
  operation: string
  planID?: string
  inRoots?: (Share & { root: string })[] // the same in the other directories of a session
}

// Share is the part of a result in one root. Paths count from it.
export interface Share {
  restored: string[]
  deleted: string[]
  kept: PathReason[]
  conflicts: PathReason[]
  notTakenBack?: PathReason[]
  plan?: { path: string; action: string; bytes: number }[]
}

export interface Operation {
  id: string
  kind: "restore" | "revert" | "unrevert" | "undo" | "redo"
  time: string
  paths: string[]
  undoes?: string
}

// Way names a way back. The same value makes the plan and carries it out.
export type Way =
  | { action: "restore"; hash: string; paths: string[] }
  | { action: "revert"; from: string; to: string; hunks: string[]; paths: string[] }
  | { action: "undo" | "redo" }
  | { action: "undo-turn" | "redo-turn"; session: string }

// Standing says what cairn knows about a root at once, without a look at its files.
export interface Standing {
  newest?: Checkpoint
  disabled?: string // the setting that switches captures off
  watching?: boolean
}

export interface Page {
  checkpoints: Checkpoint[]
  next?: string
}

// Event is one line of the server's stream.
export interface Event {
  type: "hello" | "track" | "session" | "step" | "revert" | "operation" | "gc"
  root?: string
}

// Backend answers questions about one root: a server through its socket, or the program.
// Where a state is named, "" is the disk.
export interface Backend {
  readonly root: string
  readonly kind: "server" | "program"
  standing(): Promise<Standing>
  sessions(): Promise<Session[]>
  history(session: string): Promise<Message[]>
  log(path: string | undefined, limit: number, after?: string): Promise<Page>
  changes(from: string, to: string): Promise<Change[]>
  hunks(from: string, to: string, path: string): Promise<Hunk[]>
  file(hash: string, path: string): Promise<Uint8Array | undefined> // undefined: it is not there
  operations(limit: number): Promise<Operation[]>
  plan(way: Way): Promise<Result>
  carryOut(way: Way, planID: string): Promise<Result>
  track(message: string): Promise<{ hash: string; changed: number }>
}

// Problem is an error that cairn answered with. Its kind is the same over HTTP and on the
// command line.
export class Problem extends Error {
  constructor(
    readonly kind: string,
    message: string,
  ) {
    super(message)
  }
}

export function isKind(err: unknown, ...kinds: string[]): boolean {
  return err instanceof Problem && kinds.includes(err.kind)
}
