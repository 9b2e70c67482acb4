import OpenCoreData
import ScenarioLanguage
import WorkbenchText
internal import Yams

/// Parses a scenario's `data`: counts and generators, or a store to copy.
struct DataReader {
  let document: YAMLDocument
  let scopes: ScopeResolver
  /// The base folder of relative paths.
  let folder: URL
  /// Whether the data is that of an included file, which can't name other files or a version.
  var isIncluded = false

  /// The keys that aren't entities.
  private static let keys = ["seed", "store", "version", inclusion]

  /// Returns the path of the store to copy, or `nil` if `data` doesn't specify one.
  static func storePath(in entry: YAMLEntry, of document: YAMLDocument) -> (Word, YAMLEntry)? {
    value(of: "store", wanted: "a path", in: entry, of: document)
  }

  /// Returns the version of the model that the data has; `nil` for the current one, or if the model
  /// doesn't have it, which is reported.
  static func version(
    in entry: YAMLEntry, of document: YAMLDocument, among versions: VersionedModel?
  ) -> ModelVersion? {
    guard
      let (name, entry) = value(
        of: "version", wanted: "a version of the model", in: entry, of: document)
    else { return nil }
    return document.noting(at: entry.keyPath) { () throws(LanguageProblem) in
      guard let versions else {
        throw LanguageProblem(
          "the model has no versions", at: name.range,
          nextStep: "remove `version`, or use a `model` that's an .xcdatamodeld or .momd folder")
      }
      return try versions.version(name)
    }
  }

  private static func value(
    of name: String, wanted: String, in entry: YAMLEntry, of document: YAMLDocument
  ) -> (Word, YAMLEntry)? {
    guard let mapping = entry.node.mapping else { return nil }
    for (keyNode, value) in mapping {
      guard let key = document.word(of: keyNode), key.text == name else { continue }
      let entry = YAMLEntry(key: key, node: value, keyPath: "\(entry.keyPath).\(name)")
      return document.text(of: entry, wanted: wanted).map { ($0, entry) }
    }
    return nil
  }

  /// Returns the plan, or reports a problem and returns `nil` if the node isn't a map.
  func plan(of entry: YAMLEntry, copying store: URL?) -> DataPlan? {
    guard
      let entries = document.entries(
        of: entry.node, at: entry.keyPath, known: nil, what: "`data`")
    else { return nil }
    var plan = DataPlan(source: store.map(DataPlan.Source.copied) ?? .generated([]))
    var plans = [EntityPlan]()
    // Another count that uses the rows of an invalid one isn't another error.
    var invalid = [String]()
    if store == nil, !isIncluded,
      let entry = entries.first(where: { $0.key.text == DataReader.inclusion }),
      let included = included(by: entry)
    {
      (plan.seed, plan.includedFile) = (included.seed, included.includedFile)
      if case .generated(let shared) = included.source { plans = shared }
    }
    for entry in entries {
      switch entry.key.text {
      case DataReader.inclusion where store == nil && !isIncluded: break
      case "seed": plan.seed = document.number(of: entry).map(UInt64.init) ?? plan.seed
      case "store" where !isIncluded: break
      case "version" where !isIncluded: plan.version = document.word(of: entry.node)?.text
      default:
        if store != nil {
          document.report(
            LanguageProblem(
              "data can't be generated in a copied store", at: entry.key.range,
              nextStep: "remove `\(entry.key.text)` or `store`"), at: entry.keyPath)
        } else {
          // The plan of an included file is replaced where it is.
          let replaced = plans.firstIndex { $0.entity == entry.key.text }
          let above = plans[..<(replaced ?? plans.endIndex)].flatMap { plan in
            [plan.entity] + plan.superentities
          }
          guard let entityPlan = entityPlan(of: entry, above: above + invalid) else {
            invalid.append(entry.key.text)
            continue
          }
          if let replaced { plans[replaced] = entityPlan } else { plans.append(entityPlan) }
        }
      }
    }
    if store == nil { plan.source = .generated(plans) }
    return plan
  }

  // MARK: Included files

  /// The key of the file with data that several scenarios share.
  static let inclusion = "include"

  /// Returns the plan of an included file, or reports a problem and returns `nil` if there's none.
  private func included(by entry: YAMLEntry) -> DataPlan? {
    guard let word = document.text(of: entry, wanted: "the path of a YAML file") else { return nil }
    let url = folder.file(at: word.text)
    return document.noting(at: entry.keyPath) { () throws(LanguageProblem) in
      // Errors show lines of the file, so it isn't just any file.
      guard ["yml", "yaml"].contains(url.pathExtension.lowercased()) else {
        throw LanguageProblem(
          "`\(word.text)` isn't a YAML file", at: word.range,
          nextStep: "include a file whose name ends with .yml")
      }
      document.includedFiles.insert(url.path)
      let parent = document.file.deletingLastPathComponent as NSString
      let path =
        word.text.hasPrefix("/") ? word.text : parent.appendingPathComponent(word.text)
      let text: String
      do {
        text = try ScenarioReader.text(
          of: InputFile.read(url.relativePath, limit: InputLimits.scenarioSize), path: path)
      } catch {
        throw LanguageProblem(
          "the file can't be included: \(ErrorText.firstLine(of: error))", at: word.range,
          nextStep: "use a path relative to the scenario's folder, \(folder.relativePath)")
      }
      let other = YAMLDocument(text: text, file: path)
      let root = other.root(of: text).map(other.withoutExtensions)
      var plan = root.flatMap {
        DataReader(document: other, scopes: scopes, folder: folder, isIncluded: true)
          .plan(of: YAMLEntry(key: entry.key, node: $0, keyPath: "data"), copying: nil)
      }
      plan?.includedFile = url
      plan?.move(to: word.range)
      document.adoptProblems(of: other)
      return plan
    }.flatMap(\.self)
  }

  /// Returns the plan for an entity.
  ///
  /// - Parameter above: The entities whose row counts a count can use.
  private func entityPlan(of entry: YAMLEntry, above: [String]) -> EntityPlan? {
    guard let entity = entity(of: entry) else { return nil }
    guard
      let entries = document.entries(
        of: entry.node, at: entry.keyPath, known: nil, what: "an entity's data")
    else { return nil }
    var count: CountExpression?
    var hasCount = false
    var properties = [EntityPlan.Property]()
    for entry in entries {
      if entry.key.text == "count" {
        hasCount = true
        count = expression(of: entry, above: above)
      } else if let generator = generator(of: entry, for: entity) {
        properties.append(EntityPlan.Property(name: entry.key.text, generator: generator))
      }
    }
    guard let count else {
      if !hasCount {
        document.report(
          LanguageProblem(
            "`\(entry.key.text)` has no count", at: entry.key.range,
            nextStep: "write `{count: 60}`"), at: entry.keyPath)
      }
      return nil
    }
    var plan = EntityPlan(entity: entry.key.text, count: count, properties: properties)
    plan.addRequiredRelationships(of: entity)
    plan.superentities = sequence(first: entity, next: \.superentity).dropFirst().compactMap(\.name)
    return plan
  }

  private func entity(of entry: YAMLEntry) -> NSEntityDescription? {
    document.noting(at: entry.keyPath) { () throws(LanguageProblem) in
      let key = entry.key
      guard let entity = scopes.rowNames.model.entitiesByName[key.text] else {
        let known = scopes.rowNames.entities
        throw LanguageProblem(
          "the model has no entity `\(key.text)`", at: key.range,
          didYouMean: NearestName.of(
            key.text, among: known + (isIncluded ? ["seed"] : DataReader.keys)),
          nextStep: "use one of: \(ModelNames.list(known))")
      }
      guard !entity.isAbstract else {
        throw LanguageProblem(
          "`\(key.text)` is abstract and has no rows", at: key.range,
          nextStep: "specify the counts of its subentities")
      }
      return entity
    }
  }

  private func expression(of entry: YAMLEntry, above: [String]) -> CountExpression? {
    guard let word = document.text(of: entry, wanted: "a number such as `5000 * scale`") else {
      return nil
    }
    return document.noting(at: entry.keyPath) { () throws(LanguageProblem) in
      let expression = try CountExpression(word)
      for name in expression.names {
        try scopes.check(name)
        guard above.contains(name.text) else {
          var seen: Set<String> = []
          let known = above.filter { seen.insert($0).inserted }
          throw LanguageProblem(
            "the row count of `\(name.text)` isn't defined yet", at: name.range,
            nextStep: "a count can use the entities above it: \(ModelNames.list(known))")
        }
      }
      return expression
    }
  }

  private func generator(
    of entry: YAMLEntry, for entity: NSEntityDescription
  ) -> Generator? {
    document.noting(at: entry.keyPath) { () throws(LanguageProblem) in
      let property = try scopes.rowNames.property(entry.key.text, of: entity, at: entry.key.range)
      let generator = try Generator(
        try words(of: entry), at: document.range(of: entry.node))
      try GeneratorCheck(property: property, entry: entry.key).check(
        generator, at: document.range(of: entry.node))
      return generator
    }
  }

  /// Returns the words of a generator, written as a string (`one of [a, b]`) or as a map
  /// (`{one of: [a, b]}`).
  private func words(of entry: YAMLEntry) throws(LanguageProblem) -> [Word] {
    if let mapping = entry.node.mapping, let first = mapping.first,
      let key = document.word(of: first.key)
    {
      guard mapping.count == 1 else {
        throw LanguageProblem(
          "`\(entry.key.text)` can have only one generator", at: document.range(of: entry.node),
          nextStep: "write one of: \(Generator.usage)")
      }
      let values = YAMLEntry(key: key, node: first.value, keyPath: entry.keyPath)
      return try LineWords.words(of: key) + (try document.words(of: values))
    }
    guard let word = document.text(of: entry, wanted: "a generator") else {
      throw LanguageProblem(
        "expected a generator", at: entry.key.range,
        nextStep: "write one of: \(Generator.usage)")
    }
    return try LineWords.words(of: word)
  }
}

extension DataPlan {
  /// Returns the plan as lines of a scenario's `data:`, indented by two spaces.
  ///
  /// - Parameter storePath: The path to write for a copied store.
  func yamlLines(storePath: String) -> [String] {
    let version = self.version.map { ["  version: \(YAMLText.scalar($0))"] } ?? []
    switch source {
    case .copied:
      return version + ["  store: \(YAMLText.scalar(storePath))"]
    case .generated(let plans):
      return version + ["  seed: \(seed)"]
        + plans.map { plan in
          let pairs =
            ["count: \(plan.count.text)"]
            + plan.properties.map { "\($0.name): \($0.generator.yaml)" }
          return "  \(plan.entity): {\(pairs.joined(separator: ", "))}"
        }
    }
  }
}

extension Generator {
  /// The generator in YAML.
  var yaml: String {
    switch self {
    case .cycle: "cycle"
    case .several(let number): "cycle \(number)"
    case .random: "random"
    case .every(let seconds): Generator.interval(seconds)
    case .text(let length): "text \(length)"
    case .bytes(let length): "bytes \(length)"
    case .oneOf(let words):
      "{one of: ["
        + words.map { AttributeLiteral.isNil($0) ? $0.text : YAMLText.scalar($0.text) }
        .joined(separator: ", ") + "]}"
    }
  }

  private static func interval(_ seconds: Int) -> String {
    let units = [(604_800, "week"), (86_400, "day"), (3_600, "hour"), (60, "minute")]
    let (length, unit) = units.first { seconds.isMultiple(of: $0.0) } ?? (1, "second")
    let count = seconds / length
    return "every \(PluralForm.counted(count, unit))"
  }
}
