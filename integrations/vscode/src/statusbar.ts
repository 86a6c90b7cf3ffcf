// The entry in the status bar: protected, or why not.
import * as vscode from "vscode"
import type { Connection } from "./connection.ts"
import type { Projects } from "./projects.ts"
import { failure, idle, labelOf, type Protection, protectionOf, worst } from "./protection.ts"

export class StatusBar {
  private readonly item = vscode.window.createStatusBarItem("cairn.status", vscode.StatusBarAlignment.Left, 0)
  private asked = 0

  constructor(
    private readonly connection: Connection,
    private readonly projects: Projects,
  ) {
    this.item.name = "cairn"
    this.item.command = "cairn.menu"
  }

  // update shows what is known. It asks the program only where look is set: a start of the
  // editor starts no process.
  async update(look: boolean): Promise<void> {
    const turn = ++this.asked
    const folders = this.projects.folders()
    if (folders.length === 0) return this.item.hide()
    const list: [string, Protection][] = await Promise.all(
      folders.map(async (f): Promise<[string, Protection]> => [f.name, await this.of(f, look)]),
    )
    if (turn !== this.asked) return // a newer look is under way
    const shown = worst(list.map(([, p]) => p)) ?? idle
    this.item.text = labelOf(shown.state)
    this.item.tooltip = list.map(([name, p]) => `${name}: ${p.text}`).join("\n")
    this.item.backgroundColor = ["off", "missing", "failed"].includes(shown.state)
      ? new vscode.ThemeColor("statusBarItem.warningBackground")
      : undefined
    this.item.show()
    await vscode.commands.executeCommand("setContext", "cairn.state", shown.state)
  }

  private async of(folder: vscode.WorkspaceFolder, look: boolean): Promise<Protection> {
    if (!this.connection.server && !(look && vscode.workspace.isTrusted)) return idle
    try {
      return await protectionOf((await this.projects.of(folder)).backend)
    } catch (err) {
      return failure(err)
    }
  }

  dispose(): void {
    this.item.dispose()
  }
}
