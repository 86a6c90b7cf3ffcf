// cairn for pi: checkpoints before each prompt and after each turn, and the files
// come along when you fork a session or move in its tree, if you say so.
//
// Each checkpoint is noted in the session file (an entry of the type "cairn"), so that
// it survives forks and restarts. What the agent's tools do is also recorded as steps
// of a cairn session, so that /cairn-undo and "cairn undo" take back a turn and keep
// what you have changed since.
//
// Nothing here may throw: an exception in tool_call would block the tool.
import { spawn } from "node:child_process"
import type { ExtensionAPI, ExtensionContext, SessionEntry } from "@earendil-works/pi-coding-agent"

const CAIRN = process.env.CAIRN_BIN ?? "cairn"
const OPTIONS: string[] = [] // of each call, before its command
const PATIENCE = 30_000 // milliseconds for one call
const LONG_PATIENCE = 600_000 // for one that the user waits for
const NO_ANSWER = "no answer; cairn doctor in a shell says more"
const ENTRY = "cairn"
const READS = new Set(["read", "grep", "find", "ls", "tool_search"])
const COMMAND = /^cairn (undo|redo|log|diff|status|help)( \d+)?$/i // known even where the program is not
const NOT_FOUND = 4 // exit status
const LISTED = 30 // files in a question

interface Noted {
  checkpoint: string
  hash: string
}
interface Answer {
  ok: boolean
  error?: string
  text?: string
  report?: string // for the model: what went back since the prompt before
  handled?: boolean // what was typed is a command
  after?: string // the checkpoint after a step, and its tree
  hash?: string
}
interface Plan {
  plan?: { path: string; action: string }[]
  planID?: string
  restored: string[]
  deleted: string[]
  kept: { path: string; reason: string }[]
  conflicts: { path: string; reason: string }[]
}

export default function cairn(pi: ExtensionAPI) {
  let message = "" // of the turn, as cairn knows it; none while nothing runs
  let asked = "" // session and entry that a restore was last offered for
  let report = "" // for the model, not yet delivered
  let ended: Noted | undefined // the state after the last tools
  let unprotected = "" // why nothing of the session can be taken back
  let missed = "" // why something of the turn cannot be

  const warn = (ctx: ExtensionContext, text: string) => ctx.ui.notify("cairn: " + text, "warning")

  // hook sends one event to cairn; undefined means that the program is not there.
  const hook = async (ctx: ExtensionContext, event: Record<string, unknown>, patience = PATIENCE) => {
    const payload = { cwd: ctx.cwd, session: ctx.sessionManager.getSessionId(), patience, ...event }
    const { stdout, missing } = await run(ctx.cwd, ["hook", "pi"], JSON.stringify(payload), patience)
    return missing ? undefined : (parse<Answer>(stdout) ?? { ok: false, error: NO_ANSWER })
  }

  // record sends an event of a turn, and notes its failure for the turn's end.
  const record = async (ctx: ExtensionContext, event: Record<string, unknown>) => {
    const answer = await hook(ctx, event)
    if (answer && !answer.ok) missed = answer.error ?? "failed"
    return answer
  }

  // finish ends a turn and tells what it missed.
  const finish = async (ctx: ExtensionContext) => {
    const over = await record(ctx, { event: "stop" })
    if (missed) warn(ctx, unprotected || "not all of this turn can be taken back: " + missed)
    else if (over?.text) ctx.ui.notify(over.text, "warning")
    missed = ""
  }

  // note takes a checkpoint and notes it in the session, once per state.
  const note = async (ctx: ExtensionContext) => {
    const { stdout } = await run(ctx.cwd, ["--json", "track"])
    append(ctx, parse<Noted>(stdout))
  }

  const append = (ctx: ExtensionContext, now: Noted | undefined) => {
    if (!now?.checkpoint) return
    if (nearest(ctx, ctx.sessionManager.getLeafId())?.hash !== now.hash) {
      pi.appendEntry<Noted>(ENTRY, { checkpoint: now.checkpoint, hash: now.hash })
    }
  }

  // begin begins a turn.
  const begin = async (ctx: ExtensionContext, prompt: string) => {
    await note(ctx)
    message = crypto.randomUUID()
    report = (await record(ctx, { event: "prompt", message, prompt, model: ctx.model?.id }))?.report ?? report
  }

  // offer asks whether the files shall go back to the checkpoint nearest to an entry.
  const offer = async (ctx: ExtensionContext, entry: string | null) => {
    const point = nearest(ctx, entry)
    if (!point || !ctx.hasUI) return
    const once = ctx.sessionManager.getSessionId() + " " + entry
    const dry = await run(ctx.cwd, ["--json", "restore", "--dry-run", point.checkpoint])
    if (dry.status === NOT_FOUND) return warn(ctx, "the checkpoint has expired; the files stay as they are")
    const plan = parse<Plan>(dry.stdout)
    if (!plan) return warn(ctx, "cannot restore: " + dry.stderr.trim())
    const changes = plan.plan ?? []
    if (changes.length === 0 || asked === once) return
    asked = once
    const lines = changes.slice(0, LISTED).map((c) => `${c.action} ${shown(c.path)}`)
    if (changes.length > LISTED) lines.push(`and ${changes.length - LISTED} more`)
    if (!(await ctx.ui.confirm("Bring the files along?", lines.join("\n")))) return
    const done = await run(ctx.cwd, ["--json", "restore", "--plan", plan.planID ?? "", point.checkpoint])
    const result = parse<Plan>(done.stdout)
    if (!result) return warn(ctx, "nothing was restored: " + done.stderr.trim())
    ctx.ui.notify(`cairn: ${result.restored.length} restored, ${result.deleted.length} deleted; cairn undo in a shell takes it back`, "info")
    for (const left of [...result.conflicts, ...result.kept]) warn(ctx, `${shown(left.path)} stays: ${left.reason}`)
  }

  // typed carries out a line that begins with cairn, without the model, and reports
  // whether it is a command. cairn decides: a sentence about it is for the model.
  const typed = async (ctx: ExtensionContext, line: string) => {
    const answer = await hook(ctx, { event: "typed", prompt: line }, LONG_PATIENCE)
    if (answer?.handled) ctx.ui.notify(answer.text ?? answer.error ?? "cairn: done", answer.ok ? "info" : "error")
    else if (!answer?.ok) ctx.ui.notify("cairn: " + (answer?.error ?? "the program is not there (cairn doctor)"), "error")
    return answer?.handled ?? COMMAND.test(line)
  }

  const safely =
    <E>(f: (event: E, ctx: ExtensionContext) => Promise<unknown>) =>
    async (event: E, ctx: ExtensionContext): Promise<undefined> => {
      try {
        await f(event, ctx)
      } catch (e) {
        warn(ctx, String(e))
      }
    }

  pi.on("session_start", safely(async (event, ctx) => {
    const begun = await hook(ctx, { event: "session" })
    unprotected = begun && !begun.ok ? (begun.error ?? "this session is not protected") : ""
    if (unprotected) warn(ctx, unprotected)
    else if (begun?.text) ctx.ui.notify(begun.text, "warning")
    if (event.reason === "resume") await offer(ctx, ctx.sessionManager.getLeafId())
    await note(ctx)
  }))
  // An extension can start a run without a prompt: pi 1 says so beforehand, older ones
  // do not. A run that goes on after an error or with what was queued is no new turn.
  pi.on("before_agent_start", async (event, ctx) => {
    await safely(async () => begin(ctx, "prompt" in event ? event.prompt : ""))(event, ctx)
    const content = report
    report = ""
    return content ? { message: { customType: ENTRY, content, display: false } } : undefined
  })
  pi.on("agent_start", safely(async (_, ctx) => {
    if (message === "") await begin(ctx, "")
  }))
  pi.on("tool_call", safely(async (event, ctx) => {
    if (!READS.has(event.toolName)) {
      ended = undefined
      await record(ctx, { event: "before", message, call: event.toolCallId, tool: event.toolName, input: event.input, model: ctx.model?.id })
    }
  }))
  pi.on("tool_result", safely(async (event, ctx) => {
    if (!READS.has(event.toolName)) {
      const done = await record(ctx, { event: "after", message, call: event.toolCallId, tool: event.toolName, input: event.input })
      if (done?.after && done.hash) ended = { checkpoint: done.after, hash: done.hash }
    }
  }))
  pi.on("turn_end", safely(async (event, ctx) => {
    // The end of a step is the state after its tools: there is no need to look again.
    if (ended) append(ctx, ended)
    else if (event.toolResults.length > 0) await note(ctx)
    ended = undefined
  }))
  pi.on("agent_end", safely(async (_, ctx) => {
    await finish(ctx)
    await note(ctx)
  }))
  pi.on("agent_settled", () => {
    message = ""
  })
  pi.on("session_shutdown", safely(async (_, ctx) => hook(ctx, { event: "end" })))
  pi.on("session_before_fork", safely(async (event, ctx) => {
    const entry = ctx.sessionManager.getEntry(event.entryId)
    await offer(ctx, event.position === "before" ? (entry?.parentId ?? null) : event.entryId)
  }))
  pi.on("session_tree", safely(async (event, ctx) => offer(ctx, event.newLeafId)))

  pi.on("input", async (event, ctx) => {
    const line = event.text.trim()
    if (!/^cairn(\s|$)/i.test(line)) return { action: "continue" }
    let handled = true
    await safely(async () => (handled = await typed(ctx, line)))(event, ctx)
    return { action: handled ? "handled" : "continue" }
  })
  for (const [verb, description] of Object.entries({
    undo: "take back what the last turn changed",
    redo: "bring it back",
    log: "list the turns that changed files",
    diff: "show what the last turn changed",
    status: "tell what undo and redo would do",
  })) {
    pi.registerCommand("cairn-" + verb, { description, handler: (args, ctx) => safely(() => typed(ctx, `cairn ${verb} ${args}`.trim()))(undefined, ctx) })
  }
}

// nearest walks back over the parents of an entry to the nearest checkpoint.
function nearest(ctx: ExtensionContext, entry: string | null): Noted | undefined {
  let e: SessionEntry | undefined
  for (let id = entry; id && (e = ctx.sessionManager.getEntry(id)); id = e.parentId) {
    if (e.type === "custom" && e.customType === ENTRY) return e.data as Noted
  }
  return undefined
}

// shown is a path of cairn's JSON for people: control characters cannot play tricks.
function shown(path: string): string {
  return JSON.stringify(path).slice(1, -1)
}

function parse<T>(text: string): T | undefined {
  try {
    return JSON.parse(text) as T
  } catch {
    return undefined
  }
}

interface Ran {
  status: number
  stdout: string
  stderr: string
  missing?: boolean // there is no such program
}

function run(cwd: string, args: string[], input = "", patience = PATIENCE): Promise<Ran> {
  return new Promise((resolve) => {
    const failed = (e: unknown) => resolve({ status: -1, stdout: "", stderr: String(e), missing: (e as NodeJS.ErrnoException).code === "ENOENT" })
    try {
      const child = spawn(CAIRN, [...OPTIONS, ...args], { cwd, timeout: patience, windowsHide: true })
      let stdout = ""
      let stderr = ""
      child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk))
      child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk))
      child.on("error", failed).on("close", (code) => resolve({ status: code ?? -1, stdout, stderr }))
      child.stdin.on("error", () => {}).end(input)
    } catch (e) {
      failed(e)
    }
  })
}
