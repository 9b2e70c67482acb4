import Foundation
import OpenCoreData
import ProfileEvents
import WorkbenchText

extension ShellEngine {
  /// Opens another store or scenario beside what is open, and works on it.
  func open(_ arguments: ShellArguments) throws -> ShellAnswer {
    guard let file = arguments.words.first else {
      throw CommandFailure("what is to be opened?", nextStep: "write `\(ShellCommand.open.usage)`")
    }
    var name: Word?
    var writing = ShellWorkspace.Writing.never
    var rest = arguments.words.dropFirst()
    while let word = rest.popFirst() {
      let kind = try ShellArguments.choice(
        word, of: ["as"] + ShellWorkspace.Writing.words, command: .open)
      if let known = ShellWorkspace.Writing(rawValue: kind) {
        writing = known
        continue
      }
      guard let next = rest.popFirst(), next.isName else {
        throw LanguageProblem(
          "`as` needs a name: letters, digits, - and _", at: (rest.first ?? word).place,
          nextStep: "write `\(ShellCommand.open.usage)`")
      }
      name = next
    }
    if let name, desks.contains(where: { $0.name == name.text }) {
      throw LanguageProblem(
        "something is open as `\(name.text)` already", at: name.place,
        nextStep: "choose another name, or `close \(name.text)` first")
    }
    try checkFile(file)
    let opened = try ShellWorkspace(opening: file.text, writing: writing)
    try add(opened, as: name?.text)
    let shown = desks.count > 1 ? "\(desks[desks.count - 1].name): " : ""
    return ShellAnswer(shown + (desk?.line ?? ""))
  }

  /// Puts something on a desk of its own and works on it.
  ///
  /// - Parameter name: nil for one made of the file's name.
  func add(_ workspace: ShellWorkspace, as name: String?) throws {
    do {
      let session = try workspace.makeSession(sinks: sinks, interruption: interruption)
      let made = ShellDesk(
        name: name ?? freeName(for: workspace), workspace: workspace, session: session)
      desks.append(made)
      desk = made
    } catch {
      workspace.close()
      throw error
    }
  }

  /// Works on something else that is open.
  func use(_ arguments: ShellArguments) throws -> ShellAnswer {
    guard let word = arguments.words.first else {
      throw CommandFailure("no name is written", nextStep: "`stores` lists the names")
    }
    let chosen = try desk(word)
    desk = chosen
    return ShellAnswer("  \(chosen.name): \(chosen.line)")
  }

  /// What is open.
  func stores() -> ShellAnswer {
    let table = ShellTable(
      ["name", "title", "contents", "state", "tries"],
      desks.map { desk in
        [
          .text(desk.name), .text(desk.workspace.title), .text(desk.workspace.contents),
          .text(desk.workspace.state), .number(desk.tries.count + (desk.current.isEmpty ? 0 : 1)),
        ]
      })
    guard !desks.isEmpty else { return ShellAnswer(["  nothing is open"], table: table) }
    let width = desks.map(\.name.count).max() ?? 0
    let lines = desks.map { desk in
      "\(desk === self.desk ? "*" : " ") \(NumberText.left(desk.name, width))   \(desk.line)"
    }
    return ShellAnswer(lines, table: table)
  }

  /// Lets something that is open go.
  func close(_ arguments: ShellArguments) throws -> ShellAnswer {
    _ = try openSession()
    guard let chosen = try arguments.words.first.map(desk) ?? desk else { return ShellAnswer() }
    desks.removeAll { $0 === chosen }
    if desk === chosen { desk = desks.last }
    chosen.workspace.close()
    let next = desk.map { "; `\($0.name)` is worked on" } ?? "; nothing is open"
    return ShellAnswer("  \(chosen.name) is closed\(next)")
  }

  /// What listens to every session beside its recorder.
  var sinks: [any EventSink] {
    [sqlLog?.sink, stackRequest].compactMap { $0 }
  }

  private func desk(_ word: Word) throws(LanguageProblem) -> ShellDesk {
    let names = desks.map(\.name)
    guard let index = names.firstIndex(of: word.text) else {
      throw LanguageProblem(
        "nothing is open as `\(word.text)`", at: word.place,
        didYouMean: NearestName.of(word.text, among: names),
        nextStep: names.isEmpty
          ? "open something first: `\(ShellCommand.open.usage)`"
          : "the names are: \(names.joined(separator: ", "))")
    }
    return desks[index]
  }

  /// The file's name as a name of the language, with a number behind it when that is taken.
  private func freeName(for workspace: ShellWorkspace) -> String {
    let base = workspace.baseName.map { $0.isLetter || $0.isNumber || $0 == "-" ? $0 : "_" }
    let head = base.first?.isLetter == true ? String(base) : "store-\(String(base))"
    var name = head
    var number = 2
    while desks.contains(where: { $0.name == name }) {
      name = "\(head)-\(number)"
      number += 1
    }
    return name
  }
}
