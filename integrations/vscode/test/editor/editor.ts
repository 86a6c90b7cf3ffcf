// The real editor: code-server with the packed extension, driven through Chromium. CAIRN_CODE_SERVER
// names a directory that install.sh has filled.
import { execFileSync, spawn } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join, resolve } from "node:path"
import * as readline from "node:readline"
import { chromium, type Locator, type Page } from "playwright-core"
import { cairn, type Fixture } from "../fixture.ts"

// patience is how long the editor may take for one thing. It is a bound for a machine that hangs,
// not a measure of speed.
const patience = 60_000 // milliseconds

// missing says why there is no editor to test with.
export function missing(): string | false {
  if (!process.env.CAIRN_CODE_SERVER) return "SKIPPED: CAIRN_CODE_SERVER names no code-server (test/editor/install.sh)"
  return browser() ? false : "SKIPPED: no Chromium in PATH (CAIRN_CHROMIUM names one)"
}

function browser(): string | undefined {
  const found = (name: string) =>
    (process.env.PATH ?? "")
      .split(delimiter)
      .map((dir) => join(dir, name))
      .find((p) => existsSync(p))
  return process.env.CAIRN_CHROMIUM ?? ["chromium", "chromium-browser", "google-chrome"].map(found).find((p) => p !== undefined)
}

const settings = {
  "cairn.program": cairn,
  "diffEditor.codeLens": true,
  "diffEditor.renderSideBySide": false,
  "diffEditor.hideUnchangedRegions.enabled": false,
  "workbench.startupEditor": "none",
  "security.workspace.trust.enabled": false,
  "security.workspace.trust.startupPrompt": "never",
  "chat.disableAIFeatures": true,
  "telemetry.telemetryLevel": "off",
  "extensions.autoCheckUpdates": false,
  "git.enabled": false,
}

export class Editor {
  private constructor(
    readonly page: Page,
    readonly close: () => Promise<void>,
  ) {}

  // open opens the root of a fixture, or a workspace file that what names, with the package that
  // has the Timeline, or with the one that can be published.
  static async open(
    f: Fixture,
    change: Record<string, unknown> = {},
    what = `folder=${encodeURIComponent(f.root)}`,
    packed = /-timeline\.vsix$/,
  ): Promise<Editor> {
    const dir = process.env.CAIRN_CODE_SERVER ?? ""
    const own = mkdtempSync(join(tmpdir(), "cairn-editor-"))
    mkdirSync(join(own, "data", "User"), { recursive: true })
    writeFileSync(join(own, "data", "User", "settings.json"), JSON.stringify({ ...settings, ...change }))
    const node = join(dir, "node_modules", "node", "bin", "node")
    const args = [
      join(dir, "node_modules", "code-server"),
      "--user-data-dir",
      join(own, "data"),
      "--extensions-dir",
      join(own, "extensions"),
    ]
    const vsix = resolve(readdirSync(".").find((name) => packed.test(name)) ?? "")
    const env = { ...f.env, TMPDIR: own } // for its sockets and caches
    execFileSync(node, [...args, "--install-extension", vsix], { env, stdio: ["ignore", "ignore", "ignore"] })
    const server = spawn(node, [...args, "--auth", "none", "--bind-addr", "127.0.0.1:0", "--disable-telemetry", "--disable-update-check"], {
      env,
      stdio: ["ignore", "pipe", "ignore"],
    })
    const ended = new Promise<void>((done) => server.once("exit", () => done()))
    const chrome = await chromium.launch({ executablePath: browser(), args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] })
    const close = async () => {
      await chrome.close()
      server.kill()
      await ended
      rmSync(own, { recursive: true, force: true, maxRetries: 5 })
    }
    try {
      const page = await chrome.newPage({ viewport: { width: 1500, height: 1000 } })
      page.setDefaultTimeout(patience)
      await page.goto(`http://127.0.0.1:${await portOf(server.stdout)}/?${what}`, { timeout: patience })
      const editor = new Editor(page, close)
      await editor.status("").waitFor()
      return editor
    } catch (err) {
      await close()
      throw err
    }
  }

  // status is the entry in the status bar with a text.
  status(text: string): Locator {
    return this.page.locator(".statusbar-item", { hasText: "cairn" + text })
  }

  async showView(): Promise<void> {
    await this.page.locator(".activitybar a[aria-label^='cairn']").first().click()
  }

  // row is a row of a tree.
  row(text: string | RegExp): Locator {
    return this.page.locator(".pane-body .monaco-list-row", { hasText: text })
  }

  async expand(text: string): Promise<void> {
    await this.row(text).first().click()
  }

  // click clicks until what it leads to is there: a list that is drawn again loses a click.
  async click(on: Locator, leadsTo: Locator): Promise<void> {
    for (let left = 6; ; left--) {
      await on.click()
      try {
        return await leadsTo.waitFor({ timeout: patience / 6 })
      } catch (err) {
        if (left === 0) throw err
      }
    }
  }

  // question is the dialog that is open.
  get question(): Locator {
    return this.page.locator(".monaco-dialog-box")
  }

  // command runs a command by its title.
  async command(title: string): Promise<void> {
    await this.page.keyboard.press("F1")
    const input = this.page.locator(".quick-input-widget input[type=text]")
    await input.waitFor()
    await input.fill(">" + title)
    await this.menuItem(title).click()
  }

  // menuItem is an item of the list that a command shows.
  menuItem(text: string): Locator {
    return this.page.locator(".quick-input-list .monaco-list-row", { hasText: text }).first()
  }

  // confirm presses a button of the question and returns what it said.
  async confirm(button: string): Promise<string> {
    const box = this.question
    await box.waitFor()
    const text = (await box.locator(".dialog-message-container").textContent()) ?? ""
    await box.locator(".monaco-button", { hasText: button }).first().click()
    await box.waitFor({ state: "hidden" })
    return text
  }

  // outcome waits for what a way back says, and clears it away.
  async outcome(text: string): Promise<void> {
    const toast = this.page.locator(".notification-toast", { hasText: text })
    await toast.hover()
    await toast.locator(".codicon-notifications-clear").click()
    await toast.waitFor({ state: "detached" })
  }

  tab(title: string): Locator {
    return this.page.locator(".tabs-container .tab", { hasText: title })
  }

  lens(text: string): Locator {
    return this.page.locator(".codelens-decoration a", { hasText: text })
  }
}

// portOf waits for the line in which code-server names its address.
function portOf(out: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve, reject) => {
    const lines = readline.createInterface(out)
    lines.on("line", (line) => {
      const port = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1]
      if (port) resolve(port)
    })
    lines.on("close", () => reject(new Error("code-server ended")))
  })
}
