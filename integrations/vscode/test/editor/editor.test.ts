// The extension in the real editor, as a user works with it.
import assert from "node:assert/strict"
import { mkdirSync, writeFileSync } from "node:fs"
import { after, test } from "node:test"
import { socketPath } from "../../src/place.ts"
import { Server } from "../../src/server.ts"
import { text, withTwoTurns } from "../fixture.ts"
import { Editor, missing } from "./editor.ts"

test("in the real editor", { skip: missing() }, async (t) => {
  const f = withTwoTurns()
  const editor = await Editor.open(f)
  let server: Server | undefined
  let stop = () => Promise.resolve()
  after(async () => {
    server?.close()
    await editor.close()
    await f.close()
  })
  let broken = false
  const part = (name: string, run: () => Promise<void>) =>
    t.test(name, { skip: broken && "the part before it failed" }, async () => {
      broken = true
      await run()
      broken = false
    })

  await part("the start looks for a server and starts no program; the view asks the program", async () => {
    await editor.status(": no server").waitFor()
    await editor.showView()
    await editor.row("title of s1").waitFor()
    await editor.status(": protected").waitFor()
  })

  await part("a server that begins is found, and what happens there is seen without a click", async () => {
    stop = await f.serve()
    server = await Server.connect({ socketPath: socketPath(f.dataDir) })
    await server.json("POST", `/sessions?directory=${encodeURIComponent(f.root)}`, { id: "s2", title: "a second session" })
    await editor.row("a second session").waitFor()
  })

  await part("turns have prompts, and a file opens as a comparison", async () => {
    await editor.expand("title of s1")
    await editor.row("and once more").waitFor()
    await editor.expand("make it better")
    for (const name of ["a.txt", "gone.txt", "new.txt"]) await editor.row(name).waitFor()
    await editor.click(editor.row("a.txt").first(), editor.tab("a.txt (make it better)"))
    await editor.page.locator(".modified-in-monaco-diff-editor .view-line", { hasText: "ONE" }).first().waitFor()
  })

  await part("a button takes a hunk back, after a preview", async () => {
    await editor.click(editor.lens("Take back +1 −1").nth(1), editor.question)
    const said = await editor.confirm("Take Back")
    assert.match(said, /Take back this hunk of a\.txt\?/)
    assert.match(said, /change a\.txt/)
    await editor.outcome("1 file brought back")
    assert.equal(f.read("a.txt"), text({ 1: "ONE", 5: "FIVE" }))
  })

  await part("undo offers turns and operations, and lists a conflict", async () => {
    await editor.command("cairn: Undo…")
    await editor.menuItem("the revert of 1 file").click()
    assert.match(await editor.confirm("Take Back"), /change a\.txt/)
    await editor.outcome("1 file brought back")
    assert.equal(f.read("a.txt"), text({ 1: "ONE", 5: "FIVE", 10: "TEN" }))
    f.write("a.txt", text({ 1: "ONE", 5: "mine", 10: "TEN" }))
    await editor.command("cairn: Undo…") // with one choice there is no list
    assert.match(await editor.confirm("OK"), /In conflict, stays as it is:\s*a\.txt/)
    assert.equal(f.read("a.txt"), text({ 1: "ONE", 5: "mine", 10: "TEN" }))
    f.write("a.txt", text({ 1: "ONE", 5: "FIVE", 10: "TEN" }))
  })

  await part("a turn of a session goes and comes back", async () => {
    await editor.command("cairn: Undo…")
    assert.match(await editor.confirm("Take Back"), /Take back “and once more”/)
    await editor.outcome("1 file brought back")
    assert.equal(f.read("a.txt"), text({ 1: "ONE", 10: "TEN" }))
    await editor.row(/and once more.*taken back/).waitFor()
    await editor.command("cairn: Redo…")
    await editor.confirm("Bring Back")
    await editor.outcome("1 file brought back")
    assert.equal(f.read("a.txt"), text({ 1: "ONE", 5: "FIVE", 10: "TEN" }))
  })

  await part("the history follows the editor and compares with the disk", async () => {
    const entry = editor.page.locator(".pane", { hasText: "File History" }).locator(".monaco-list-row", { hasText: "first" })
    await editor.click(entry, editor.tab("a.txt (first ↔ now)"))
    await editor.lens("Take back").first().waitFor()
  })

  await part("a checkpoint is picked for a comparison", async () => {
    await editor.command("cairn: Compare with Checkpoint…")
    await editor.menuItem("make it better").click()
    await editor.tab("a.txt (make it better … ↔ now)").waitFor()
  })

  await part("the timeline has the same entries", async () => {
    await editor.page.locator(".activitybar a[aria-label^='Explorer']").first().click()
    await editor.page.locator(".explorer-folders-view .monaco-list-row", { hasText: "a.txt" }).first().dblclick()
    await editor.page.locator(".pane-header", { hasText: "Timeline" }).first().click()
    const entry = editor.page.locator(".pane", { hasText: "Timeline" }).locator(".monaco-list-row", { hasText: "first" })
    await editor.click(entry, editor.tab("a.txt (first ↔ now)"))
  })

  await part("a server that goes is missed, and the menu offers to start one", async () => {
    await stop()
    await editor.status(": protected").click()
    await editor.menuItem("Start the server").waitFor()
  })
})

test("in a workspace that is not trusted a running server is asked, and nothing is changed", { skip: missing() }, async () => {
  const f = withTwoTurns()
  const editor = await Editor.open(f, { "security.workspace.trust.enabled": true })
  after(async () => {
    await editor.close()
    await f.close()
  })
  await editor.showView()
  await editor.page.locator(".welcome-view", { hasText: "no program is started in a workspace that is not trusted" }).waitFor()
  await f.serve()
  await editor.expand("title of s1")
  await editor.row("and once more").waitFor()
  await editor.page.keyboard.press("F1")
  await editor.page.locator(".quick-input-widget input[type=text]").fill(">cairn: ")
  await editor.menuItem("cairn: Refresh").waitFor()
  assert.equal(await editor.menuItem("cairn: Undo…").count(), 0)
})

test("each root of a workspace has its turns, with the package that can be published", { skip: missing() }, async () => {
  const f = withTwoTurns()
  mkdirSync(f.top + "/other")
  writeFileSync(f.top + "/both.code-workspace", JSON.stringify({ folders: [{ path: f.root }, { path: f.top + "/other" }] }))
  const editor = await Editor.open(f, {}, `workspace=${encodeURIComponent(f.top + "/both.code-workspace")}`, /^cairn-[0-9.]+\.vsix$/)
  after(async () => {
    await editor.close()
    await f.close()
  })
  await editor.showView()
  await editor.row("title of s1").waitFor()
  await editor.row("other").waitFor()
  await editor.status(": no checkpoint").waitFor()
})
