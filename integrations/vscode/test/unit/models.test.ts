// What needs no cairn: paths, places, turns, hunks, words.
import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import type { Hunk, Message, Operation, Result, Session, Step } from "../../src/api.ts"
import { choicesOf } from "../../src/choices.ts"
import { tcpAddress } from "../../src/connection.ts"
import { hunkAt, linesOf } from "../../src/hunks.ts"
import { bytesOf, inQuery, isPlain, shown, textOf } from "../../src/pathtext.ts"
import { dataDir } from "../../src/place.ts"
import { labelOf, wordsOf, worst } from "../../src/protection.ts"
import { isReverted, isRunning, promptOf, spanOf, turnsOf } from "../../src/turns.ts"
import { decodePlace, encodePlace } from "../../src/uri.ts"
import { ago, firstLine, inAllRoots, outcomeOf, previewOf } from "../../src/words.ts"

test("a path of any bytes goes through text and back", () => {
  for (const [text, hex] of [
    ["a/ü", "612fc3bc"],
    ["bad\0ffname", "626164ff6e616d65"],
    ["\0c3", "c3"],
    ["\uFFFD\0e2" + "\0" + "829", "efbfbde28239"],
    ["\uFEFFbom", "efbbbf626f6d"],
  ] as const) {
    assert.equal(bytesOf(text).toString("hex"), hex)
    assert.equal(textOf(Buffer.from(hex, "hex")), text)
  }
  assert.equal(inQuery("a b/\0ff&ü"), "a%20b/%FF%26%C3%BC")
  assert.equal(shown("bad\0ffname"), "bad\uFFFDname")
  assert.ok(isPlain("ü") && !isPlain("\0ff"))
  for (const wrong of ["\0", "\0zz", "\u000041"]) assert.throws(() => bytesOf(wrong))
})

test("a place survives its URI", () => {
  const place = { hash: "12", root: "C:\\x", path: 'a"?#\0ff' }
  assert.deepEqual(decodePlace(encodePlace(place)), place)
  assert.throws(() => decodePlace(JSON.stringify({ hash: "12" })))
})

test("the data directory is found as the program finds it", (t) => {
  const home = mkdtempSync(join(tmpdir(), "cairn-home-"))
  t.after(() => rmSync(home, { recursive: true }))
  const on = (platform: NodeJS.Platform, env: Record<string, string>, setting = "") => dataDir({ platform, env, dataDir: setting })
  assert.equal(on("linux", { HOME: home }), home + "/.local/share/cairn")
  assert.equal(on("darwin", { HOME: home }), home + "/Library/Application Support/cairn")
  assert.equal(on("win32", { LOCALAPPDATA: "C:\\l" }), "C:\\l\\cairn")
  assert.equal(on("win32", { LOCALAPPDATA: "C:\\l", XDG_DATA_HOME: "D:\\x" }), "D:\\x\\cairn")
  assert.equal(on("linux", { HOME: home, XDG_DATA_HOME: "/x" }), "/x/cairn")
  assert.equal(on("linux", { HOME: home, XDG_DATA_HOME: "relative" }), home + "/.local/share/cairn")
  assert.equal(on("linux", {}), undefined)
  mkdirSync(join(home, ".config", "cairn"), { recursive: true })
  const file = join(home, ".config", "cairn", "config.toml")
  writeFileSync(file, '# data_dir = "/no"\nmax_age = "1d"\ndata_dir = "/from \\"file\\""\n[project."/p"]\ndata_dir = "/other"\n')
  assert.equal(on("linux", { HOME: home }), '/from "file"')
  writeFileSync(file, "data_dir = '/literal'\n")
  assert.equal(on("linux", { HOME: home }), "/literal")
  writeFileSync(file, '[project."/p"]\ndata_dir = "/other"\n')
  assert.equal(on("linux", { HOME: home }), home + "/.local/share/cairn")
  assert.equal(on("linux", { HOME: home, CAIRN_DATA_DIR: "/env" }), "/env")
  assert.equal(on("linux", { HOME: home, CAIRN_DATA_DIR: "/env" }, "/setting"), "/setting")
})

test("a login link names the address of a server", () => {
  assert.deepEqual(tcpAddress("http://127.0.0.1:8390/login?key=x", "t"), { host: "127.0.0.1", port: 8390, token: "t" })
  assert.deepEqual(tcpAddress("http://[::1]:80801/login".replace("80801", "8081"), "t"), { host: "::1", port: 8081, token: "t" })
})

const session = {
  id: "s",
  root: "/r",
  created: "2026-01-01T00:00:00Z",
  updated: "2026-01-01T00:00:00Z",
  messages: 0,
  steps: 0,
} satisfies Session

function step(id: string, from: string, to?: string, files: string[] = ["/r/a"]): Step {
  return {
    id,
    before: { id: from, hash: from },
    after: to === undefined ? undefined : { id: to, hash: to },
    began: "2026-01-01T00:00:00Z",
    patch: { hash: from, files },
  }
}

function message(id: string, role: string, steps: Step[] = [], more: Partial<Message> = {}): Message {
  return { id, role, created: "2026-01-01T00:00:00Z", steps, ...more }
}

test("a message of the user begins a turn", () => {
  const turns = turnsOf(session, [
    message("m0", "assistant"),
    message("m1", "user", [], { prompt: "first" }),
    message("m2", "assistant", [step("1", "A", "B"), step("2", "C", "D")]),
    message("m3", "user", [step("3", "D")], { prompt: "second", reverted: true }),
  ])
  assert.deepEqual(
    turns.map((t) => t.messages.map((m) => m.id)),
    [["m0"], ["m1", "m2"], ["m3"]],
  )
  assert.deepEqual(turns.map(promptOf), ["", "first", "second"])
  assert.deepEqual(turns.map(spanOf), [undefined, { from: "A", to: "D" }, { from: "D", to: "" }])
  assert.deepEqual(turns.map(isReverted), [false, false, true])
  assert.deepEqual(turns.map(isRunning), [false, false, true])
  assert.equal(turnsOf(session, [message("a", "assistant"), message("b", "assistant")]).length, 2)
})

test("the lines of a hunk are those that changed", () => {
  const hunk = (newStart: number, lines: string[]): Hunk => ({
    id: "1",
    header: "",
    oldStart: 1,
    oldLines: 1,
    newStart,
    newLines: lines.filter((l) => !l.startsWith("-")).length,
    lines,
  })
  assert.deepEqual(linesOf(hunk(1, ["-one", "+ONE", " two"])), { first: 0, last: 0 })
  assert.deepEqual(linesOf(hunk(7, [" seven", " eight", "+a", "+b", " nine"])), { first: 8, last: 9 })
  assert.deepEqual(linesOf(hunk(7, [" seven", "-eight", " nine"])), { first: 7, last: 7 })
  assert.deepEqual(linesOf(hunk(0, ["-all"])), { first: 0, last: 0 })
  const [a, b] = [hunk(1, ["+x", " y"]), { ...hunk(20, ["+z"]), id: "2" }]
  assert.equal(hunkAt([a, b], 0), a)
  assert.equal(hunkAt([a, b], 21), b)
  assert.equal(hunkAt([a, b], 10), undefined)
  assert.equal(hunkAt([], 0), undefined)
})

const nothing: Result = { operation: "", restored: [], deleted: [], kept: [], conflicts: [] }

test("a preview lists changes, conflicts and unsaved documents", () => {
  const plan: Result = {
    ...nothing,
    plan: [
      { path: "a\0ff", action: "modify", bytes: 1 },
      { path: "b", action: "delete", bytes: 0 },
    ],
    conflicts: [{ path: "c", reason: "changed since" }],
  }
  assert.deepEqual(previewOf(plan, ["d"], 1), {
    changes: 2,
    detail: "change a\uFFFD\n… and 1 more\n\nIn conflict, stays as it is:\nc: changed since\n\nNot saved in the editor:\nd",
  })
  assert.equal(outcomeOf({ ...plan, restored: ["a"], deleted: ["b"] }), "1 file brought back, 1 file deleted, 1 in conflict")
  assert.equal(outcomeOf(nothing), "nothing changed")
})

test("a plan of several directories shows all of them", () => {
  const share = { restored: [], deleted: [], kept: [], conflicts: [] }
  const plan = {
    ...share,
    operation: "",
    planID: "1",
    plan: [],
    inRoots: [
      {
        ...share,
        root: "/lib",
        plan: [{ path: "d/a", action: "modify", bytes: 1 }],
        conflicts: [{ path: "b", reason: "changed since" }],
        notTakenBack: [{ path: "/away", reason: "outside" }],
      },
      { ...share, root: "C:\\more\\", plan: [{ path: "c", action: "delete", bytes: 0 }], restored: ["c"], deleted: ["C:/x"], kept: [{ path: "k", reason: "k" }] },
    ],
  }
  const all = inAllRoots(plan)
  assert.deepEqual(previewOf(all), {
    changes: 2,
    detail:
      "change /lib/d/a\ndelete C:\\more/c\n\nIn conflict, stays as it is:\n/lib/b: changed since\n\nKept:\nC:\\more/k: k\n\nNot taken back:\n/away: outside",
  })
  assert.equal(outcomeOf(all), "1 file brought back, 1 file deleted, 1 kept, 1 in conflict")
  assert.deepEqual(plan.plan, [])
})

test("a prompt is shown by its first line", () => {
  assert.equal(firstLine("\n a\nb"), "a")
  assert.equal(firstLine("😀".repeat(90), 5), "😀😀😀😀…")
})

test("an age has one unit", () => {
  const now = Date.parse("2026-01-02T00:00:00Z")
  assert.deepEqual(
    ["2026-01-01T23:59:30Z", "2026-01-01T23:58:00Z", "2026-01-01T21:01:00Z", "2025-12-01T00:00:00Z", "2027-01-01T00:00:00Z"].map((t) =>
      ago(t, now),
    ),
    ["now", "2 min ago", "2 h ago", "32 d ago", "now"],
  )
})

test("the worst root decides what the status bar says", () => {
  const newest = { id: "1", hash: "1", time: "2026-01-01T00:00:00Z", author: "agent", message: "" }
  const now = Date.parse("2026-01-01T00:02:00Z")
  assert.deepEqual(wordsOf({ newest, watching: true }, "server", now), {
    state: "protected",
    text: "newest checkpoint 2 min ago; a server watches",
  })
  assert.equal(wordsOf({ newest, disabled: "enabled = false" }, "server").state, "off")
  assert.equal(wordsOf({}, "program").state, "empty")
  assert.equal(worst([wordsOf({ newest }, "server"), wordsOf({}, "server")])?.state, "empty")
  assert.equal(worst([]), undefined)
  assert.match(labelOf("protected"), /cairn: protected/)
})

test("undo and redo choose among turns and operations", async () => {
  const operation = (id: string, kind: Operation["kind"], time: string, undoes?: string): Operation => ({
    id,
    kind,
    time,
    paths: ["a"],
    undoes,
  })
  const histories = {
    s: [
      message("m1", "user", [step("1", "A", "B")], { prompt: "kept" }),
      message("m2", "user", [step("2", "B", "C")], { prompt: "taken back", reverted: true }),
    ],
  }
  const labels = async (operations: Operation[], forward: boolean) => {
    const backend = { sessions: async () => [session], history: async () => histories.s, operations: async () => operations } as never
    return (await choicesOf(backend, forward)).map((c) => [c.label, c.way.action])
  }
  const r1 = operation("r1", "restore", "2026-01-02T00:00:00Z")
  const u1 = operation("u1", "undo", "2026-01-03T00:00:00Z", "r1")
  const d1 = operation("d1", "redo", "2026-01-04T00:00:00Z", "u1")
  const turns = { undo: ["kept", "undo-turn"], redo: ["taken back", "redo-turn"] }
  assert.deepEqual(await labels([], false), [turns.undo])
  assert.deepEqual(await labels([r1], false), [["the restore of 1 file", "undo"], turns.undo])
  assert.deepEqual(await labels([r1], true), [turns.redo])
  assert.deepEqual(await labels([u1, r1], false), [turns.undo])
  assert.deepEqual(await labels([u1, r1], true), [["the restore of 1 file", "redo"], turns.redo])
  assert.deepEqual(await labels([d1, u1, r1], true), [turns.redo])
  assert.deepEqual(await labels([d1, u1, r1], false), [["the redo of 1 file", "undo"], turns.undo])
})
