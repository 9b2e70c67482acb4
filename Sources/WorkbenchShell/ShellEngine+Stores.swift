import Foundation
import OpenCoreData
import ProfileEvents
import Profiling
import SQLiteDriver
import ScenarioLanguage
import WorkbenchText

extension ShellEngine {
  /// Opens another store or scenario, keeps the others open, and makes it current.
  func open(_ arguments: ShellArguments) throws -> ShellAnswer {
    guard let file = arguments.words.first else {
      throw CommandFailure(
        "expected the path of a store or a scenario", nextStep: "write `\(ShellCommand.open.usage)`"
      )
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
      let next = rest.popFirst()
      guard let next, next.isName else {
        throw LanguageProblem(
          "`as` requires a name of letters, digits, `-`, and `_`", at: (next ?? word).range,
          nextStep: "write `\(ShellCommand.open.usage)`")
      }
      name = next
    }
    if let name, targets.contains(where: { $0.name == name.text }) {
      throw LanguageProblem(
        "`\(name.text)` is already open", at: name.range,
        nextStep: "choose another name, or `close \(name.text)` first")
    }
    try checkFile(file)
    let opened = try ShellWorkspace(opening: file.text, writing: writing)
    try add(opened, as: name?.text)
    let shown = targets.count > 1 ? "\(targets[targets.count - 1].name): " : ""
    return ShellAnswer(shown + (target?.line ?? ""))
  }

  /// Adds a workspace and makes it current.
  ///
  /// - Parameters:
  ///   - workspace: The workspace to add.
  ///   - name: The name; `nil` to derive it from the file's name.
  func add(_ workspace: ShellWorkspace, as name: String?) throws {
    do {
      let session = try workspace.makeSession(sinks: sinks, interruption: interruption)
      let made = ShellTarget(
        name: name ?? freeName(for: workspace), workspace: workspace, session: session)
      targets.append(made)
      target = made
    } catch {
      workspace.close()
      throw error
    }
  }

  /// Makes another open store or scenario current.
  func use(_ arguments: ShellArguments) throws -> ShellAnswer {
    guard let word = arguments.words.first else {
      throw CommandFailure("expected a name", nextStep: "`stores` lists the names")
    }
    let chosen = try target(word)
    target = chosen
    return ShellAnswer("  \(chosen.name): \(chosen.line)")
  }

  /// Lists the open stores and scenarios.
  func stores() -> ShellAnswer {
    let table = ShellTable(
      ["name", "title", "contents", "state", "runs"],
      targets.map { target in
        [
          .text(target.name), .text(target.workspace.title), .text(target.workspace.contents),
          .text(target.workspace.state),
          .number(target.runs.count + (target.current.isEmpty ? 0 : 1)),
        ]
      })
    guard !targets.isEmpty else { return ShellAnswer(["  nothing is open"], table: table) }
    let width = targets.map { TextWidth.of($0.name) }.max() ?? 0
    let lines = targets.map { target in
      "\(target === self.target ? "*" : " ") \(NumberText.left(target.name, width))   \(target.line)"
    }
    return ShellAnswer(lines, table: table)
  }

  /// Closes a store or scenario by name, or the current one.
  func close(_ arguments: ShellArguments) throws -> ShellAnswer {
    _ = try openSession()
    guard let chosen = try arguments.words.first.map(target) ?? target else { return ShellAnswer() }
    targets.removeAll { $0 === chosen }
    if target === chosen { target = targets.last }
    chosen.workspace.close()
    let next = target.map { "; `\($0.name)` is current" } ?? "; nothing is open"
    return ShellAnswer("  \(chosen.name) is closed\(next)")
  }

  /// The sinks of every session, in addition to its recorder.
  var sinks: [any EventSink] {
    [sqlLog?.sink, stackRequest].compactMap { $0 }
  }

  private func target(_ word: Word) throws(LanguageProblem) -> ShellTarget {
    let names = targets.map(\.name)
    guard let index = names.firstIndex(of: word.text) else {
      throw LanguageProblem(
        "no open store or scenario is named `\(word.text)`", at: word.range,
        didYouMean: NearestName.of(word.text, among: names),
        nextStep: names.isEmpty
          ? "open something first: `\(ShellCommand.open.usage)`"
          : "the names are: \(names.joined(separator: ", "))")
    }
    return targets[index]
  }

  /// Returns an unused name for a workspace, derived from the name of its file.
  private func freeName(for workspace: ShellWorkspace) -> String {
    let base = workspace.baseName.map { $0.isLetter || $0.isNumber || $0 == "-" ? $0 : "_" }
    let head = base.first?.isLetter == true ? String(base) : "store-\(String(base))"
    var name = head
    var number = 2
    while targets.contains(where: { $0.name == name }) {
      name = "\(head)-\(number)"
      number += 1
    }
    return name
  }
}

extension ShellEngine {
  /// Lists the entities with their saved rows as a tree, or the properties of an entity.
  ///
  /// **Cost:** one COUNT for each entity, outside the session: the run's counters don't include it.
  func entities(_ arguments: ShellArguments) throws -> ShellAnswer {
    let session = try openSession()
    let names = ModelNames(session.model, configuration: session.configuration)
    if let word = arguments.words.first {
      return ShellEngine.properties(of: try names.entity(word.text, at: word.range))
    }
    let own = try ScenarioData.counts(
      in: session.storeURL, model: session.model, configuration: session.configuration,
      ignoringVersions: session.ignoresVersions)
    let totals = EntityCount.totals(own, in: session.model)
    let rows = names.tree.map { depth, entity in
      (
        name: String(repeating: "  ", count: depth) + (entity.name ?? ""),
        count: NumberText.grouped(totals[entity.name ?? ""] ?? 0),
        note: entity.isAbstract ? "   abstract" : ""
      )
    }
    let name = rows.map { TextWidth.of($0.name) }.max() ?? 0
    let count = rows.map(\.count.count).max() ?? 0
    let table = ShellTable(
      ["entity", "rows", "abstract"],
      names.tree.map { _, entity in
        [
          .text(entity.name ?? ""), .number(totals[entity.name ?? ""] ?? 0),
          .text(entity.isAbstract ? "yes" : "no"),
        ]
      })
    return ShellAnswer(
      rows.map { row in
        "  \(NumberText.left(row.name, name))  \(NumberText.right(row.count, count))\(row.note)"
      }, table: table)
  }

  private static func properties(of entity: NSEntityDescription) -> ShellAnswer {
    let attributes = entity.attributesByName.values.sortedByName()
      .map { (property: $0 as NSPropertyDescription, kind: $0.attributeType.documentName) }
    let relationships = entity.relationshipsByName.values.sortedByName()
      .map { relationship in
        (
          property: relationship as NSPropertyDescription,
          kind: "\(relationship.isToMany ? "to-many" : "to-one") "
            + (relationship.destinationEntity?.name ?? "nothing")
        )
      }
    let all = attributes + relationships
    let width = all.map { TextWidth.of($0.property.name) }.max() ?? 0
    let lines = all.map { property, kind in
      var facts = kind
      if property.isOptional { facts += ", optional" }
      if property.isTransient { facts += ", transient" }
      return "  \(NumberText.left(property.name, width))   \(facts)"
    }
    let table = ShellTable(
      ["property", "kind", "optional", "transient"],
      all.map { property, kind in
        [
          .text(property.name), .text(kind), .text(property.isOptional ? "yes" : "no"),
          .text(property.isTransient ? "yes" : "no"),
        ]
      })
    return ShellAnswer(lines, table: table)
  }
}
