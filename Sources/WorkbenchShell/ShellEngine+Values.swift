import OpenCoreData
import Profiling
import ScenarioLanguage
import WorkbenchText

/// The arguments of `show`: a result, the position of one of its objects, and options.
private struct ShowArguments {
  let name: Word
  /// The position of the only object to show, from 1.
  private(set) var position: Word?
  /// The number of objects to show, 0 for all; `nil` for the first few.
  private(set) var limit: Int?
  private(set) var offset = 0
  /// The key paths; empty for all properties.
  private(set) var columns: [Word] = []
  private(set) var isRaw = false

  /// The words that aren't key paths.
  private static let words = ["limit", "offset", "columns", "raw"]

  /// - Throws: A problem at the first word that isn't an argument of `show`.
  init(_ words: [Word], name: Word) throws(LanguageProblem) {
    self.name = name
    var rest = words.dropFirst()
    if let first = rest.first, !first.isQuoted,
      first.text.first.map({ $0.isNumber || $0 == "#" }) == true
    {
      position = rest.removeFirst()
    }
    while let word = rest.popFirst() {
      switch word.isQuoted ? "" : word.text {
      case "limit": limit = try ShowArguments.number(after: word, in: &rest)
      case "offset": offset = try ShowArguments.number(after: word, in: &rest)
      case "raw": isRaw = true
      case "columns":
        while let path = rest.first, path.isQuoted || !ShowArguments.words.contains(path.text) {
          columns.append(rest.removeFirst())
        }
        guard !columns.isEmpty else {
          throw LanguageProblem(
            "`columns` needs key paths", at: word.range,
            nextStep: "write, for example, `columns date country.name`")
        }
      default:
        throw LanguageProblem(
          "`\(word.text)` isn't an argument of `show`", at: word.range,
          didYouMean: NearestName.of(word.text, among: ShowArguments.words),
          nextStep: "write `\(ShellCommand.show.usage)`")
      }
    }
  }

  private static func number(
    after option: Word, in rest: inout ArraySlice<Word>
  ) throws(LanguageProblem) -> Int {
    guard let word = rest.popFirst() else {
      throw LanguageProblem(
        "`\(option.text)` needs a number", at: option.range,
        nextStep: "write, for example, `\(option.text) 20`")
    }
    guard let number = Int(word.text), (0...InputLimits.objects).contains(number) else {
      throw LanguageProblem(
        "`\(option.text)` needs an integer, not `\(word.text)`", at: word.range,
        nextStep: "write, for example, `\(option.text) 20`")
    }
    return number
  }
}

extension ShellEngine {
  /// Prints the values of a result's objects or dictionaries, or lists the results.
  ///
  /// **Cost:** adds nothing to the run's costs, and fires no fault; see `Session.inspect`.
  func show(_ words: [Word]) throws -> ShellAnswer {
    let session = try openSession()
    guard let name = words.first else { return ShellEngine.results(of: session) }
    let arguments = try ShowArguments(words, name: name)
    guard let shape = session.resultShapes[name.text],
      let count = session.count(ofResult: name.text)
    else {
      let known = session.resultShapes.keys.sorted()
      throw LanguageProblem(
        "there's no result `\(name.text)`", at: name.range,
        didYouMean: NearestName.of(name.text, among: known),
        nextStep: known.isEmpty
          ? "keep one: `fetch ENTITY as NAME`" : "use one of: \(ModelNames.list(known))")
    }
    if shape.kind == .dictionaries { return try dictionaries(arguments, count, in: session) }
    guard shape.hasObjects, let entity = session.model.entitiesByName[shape.entity] else {
      throw LanguageProblem(
        "`\(name.text)` is a save, which has no objects", at: name.range,
        nextStep: "show the result of a fetch, an insertion, or a batch request")
    }
    if arguments.position != nil || (count == 1 && arguments.columns.isEmpty) {
      return try object(arguments, of: entity, count, in: session)
    }
    let range = arguments.range(of: count)
    let paths = try arguments.columns.map { word in
      try ShellEngine.checked(word, of: entity, in: session.model)
    }
    let shown = paths.isEmpty ? ShellEngine.columns(of: entity) : paths
    let objects = try reading {
      try session.inspect(name.text, at: range, keyPaths: shown, raw: arguments.isRaw)
    }
    let table = ShellTable(
      ["#", "object", "fault"] + shown,
      zip(range, objects).map { index, object in
        [
          .number(index + 1), .value(.object(object.uri)), .text(object.isFault ? "yes" : "no"),
        ] + object.values.map { .value($0.text) }
      })
    var answer = ShellAnswer(table: table)
    answer.notes = arguments.notes(range, of: count)
    return answer
  }

  /// Prints one object with all properties.
  private func object(
    _ arguments: ShowArguments, of entity: NSEntityDescription, _ count: Int, in session: Session
  ) throws -> ShellAnswer {
    var index = 0
    if let word = arguments.position {
      guard count > 0 else {
        throw LanguageProblem(
          "`\(arguments.name.text)` is empty", at: word.range,
          nextStep: "fetch objects before you show one")
      }
      index =
        try ShellArguments.number(
          word, in: 1...count, of: "objects of `\(arguments.name.text)`",
          nextStep: "`show \(arguments.name.text)` shows the first with their numbers") - 1
    }
    let range = index..<index + 1
    let uris = try reading {
      try session.inspect(arguments.name.text, at: range, keyPaths: [], raw: false)
    }
    // The object can be of a subentity, which has more properties.
    let own = uris.first.flatMap { object in
      session.model.entitiesByName[
        RowText.reference(object.uri).split(separator: "/").first.map(String.init) ?? ""]
    }
    let names =
      arguments.columns.isEmpty
      ? ShellEngine.properties(of: own ?? entity)
      : try arguments.columns.map { word in
        try ShellEngine.checked(word, of: own ?? entity, in: session.model)
      }
    let objects = try reading {
      try session.inspect(arguments.name.text, at: range, keyPaths: names, raw: arguments.isRaw)
    }
    guard let object = objects.first else { return ShellAnswer() }
    let table = ShellTable(
      ["property", "value", "fault", "changed"],
      zip(names, object.values).map { name, value in
        [
          .text(name), .value(value.text), .text(value.isFault ? "yes" : "no"),
          .text(value.isChanged ? "yes" : "no"),
        ]
      })
    let state =
      (object.isFault ? "a fault" : "realized")
      + (object.hasChanges ? ", with unsaved changes" : ", no unsaved changes")
    var answer = ShellAnswer(table: table)
    answer.notes = ["  \(RowText.reference(object.uri)): \(state)", "  \(object.uri)"]
    return answer
  }

  /// Prints the contents of dictionaries.
  private func dictionaries(
    _ arguments: ShowArguments, _ count: Int, in session: Session
  ) throws -> ShellAnswer {
    let name = arguments.name.text
    let all = session.dictionaryKeys(ofResult: name)
    for word in arguments.columns where !all.contains(word.text) {
      throw LanguageProblem(
        "the dictionaries of `\(name)` have no key `\(word.text)`", at: word.range,
        didYouMean: NearestName.of(word.text, among: all),
        nextStep: "their keys are: \(ModelNames.list(all))")
    }
    var range = arguments.range(of: count)
    if let word = arguments.position {
      let number = try ShellArguments.number(
        word, in: 1...max(1, count), of: "dictionaries of `\(name)`",
        nextStep: "`show \(name)` shows the first with their numbers")
      range = min(number - 1, count)..<min(number, count)
    }
    let keys = arguments.columns.isEmpty ? all : arguments.columns.map(\.text)
    let contents = session.dictionaries(ofResult: name)
    let table = ShellTable(
      ["#"] + keys,
      range.map { index in
        [.number(index + 1)] + keys.map { .value(contents[index][$0] ?? .null) }
      })
    var answer = ShellAnswer(table: table)
    answer.notes = arguments.position == nil ? arguments.notes(range, of: count) : []
    return answer
  }

  /// Lists the named results.
  private static func results(of session: Session) -> ShellAnswer {
    let shapes = session.resultShapes.sorted { $0.key < $1.key }
    guard !shapes.isEmpty else {
      return ShellAnswer("  no results; `fetch ENTITY as NAME` keeps one under a name")
    }
    return ShellAnswer(
      table: ShellTable(
        ["result", "count", "entity", "kind", "context"],
        shapes.map { name, shape in
          [
            .text(name), .number(session.count(ofResult: name) ?? 0), .text(shape.entity),
            .text(shape.kind.rawValue), .text(shape.context),
          ]
        }))
  }

  /// Runs a reading of values, with a message for an interruption.
  private func reading<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as NSError where StepInterruption.isCause(of: error) {
      throw CommandFailure("`show` was interrupted")
    }
  }

  /// Returns the key path in a word.
  ///
  /// - Throws: A problem at the first key that isn't a property, or that continues past a to-many
  ///   relationship.
  private static func checked(
    _ word: Word, of entity: NSEntityDescription, in model: NSManagedObjectModel
  ) throws(LanguageProblem) -> String {
    let suffix = ".@count"
    let isCount = word.text.hasSuffix(suffix)
    let text = isCount ? String(word.text.dropLast(suffix.count)) : word.text
    let path = try ModelNames(model).resolveRead(text, from: entity, at: word.range(at: 0))
    if let past = path.steps.first(where: { $0.isToMany }) {
      throw LanguageProblem(
        "`\(past.name)` is a to-many relationship; `show` can't continue past it", at: word.range,
        nextStep: "end the key path there, or after it with `@count`")
    }
    let isToMany = (path.last as? NSRelationshipDescription)?.isToMany == true
    guard !isCount || isToMany else {
      throw LanguageProblem(
        "`@count` needs a to-many relationship", at: word.range, nextStep: "remove `\(suffix)`")
    }
    return word.text
  }

  /// Returns the columns of an entity's objects: its attributes and to-one relationships, in
  /// alphabetical order.
  private static func columns(of entity: NSEntityDescription) -> [String] {
    properties(of: entity).filter { entity.relationshipsByName[$0]?.isToMany != true }
  }

  /// Returns the attributes and relationships of an entity, each in alphabetical order.
  private static func properties(of entity: NSEntityDescription) -> [String] {
    entity.attributesByName.keys.sorted() + entity.relationshipsByName.keys.sorted()
  }
}

extension ShowArguments {
  /// The number of objects to show if there's no `limit`.
  private static let few = 20

  /// Returns the positions to show of a number of objects.
  func range(of count: Int) -> Range<Int> {
    let start = min(offset, count)
    let limit = limit ?? ShowArguments.few
    // As in a step, 0 means no limit.
    return start..<(limit == 0 ? count : min(count, start + limit))
  }

  /// Returns a line about objects that aren't shown.
  func notes(_ range: Range<Int>, of count: Int) -> [String] {
    guard range.count < count else { return [] }
    var line = "  \(NumberText.grouped(range.count)) of \(NumberText.grouped(count))"
    if range.upperBound < count {
      line += "; next: `show \(LineWords.plain(name.text)) offset \(range.upperBound)`"
    }
    return [line]
  }
}
