package import ManagedModel

/// The kinds of source code to generate for the entities of a model.
package enum ClassStyle: String, CaseIterable, Sendable {
  /// A class with its properties for every entity, like Xcode's "Class Definition".
  case `class`
  /// Only the properties, for handwritten classes, like Xcode's "Category/Extension".
  case `extension`
}

/// Generates Swift source code for a model: classes with typed properties, fetch requests, and
/// registration.
///
/// The same model always results in the same source code. No files are read or written.
package struct ClassGenerator {
  private let plan: ModelPlan
  private let file: String

  /// Plans the source code.
  ///
  /// - Parameters:
  ///   - model: A model for which `validate()` returns no errors.
  ///   - file: The name of the model's file without folders, such as `Shop.xcdatamodeld`. The type
  ///     that registers the classes is named after it.
  /// - Throws: An error for each class that two unrelated entities use or whose name isn't valid in
  ///   Swift, and for a model without entities.
  package init(_ model: NSManagedObjectModel, file: String) throws(ModelErrors) {
    let name = file.split(separator: ".").first.map(String.init) ?? file
    plan = try ModelPlan(model, name: name, file: file)
    self.file = file
  }

  /// Notes about the result for the user, one sentence each; usually empty.
  package var notes: [String] {
    var notes: [String] = []
    if plan.assignsClasses {
      notes.append(
        "No entity of \(file) names a class, so each class is named after its entity; "
          + "call \(plan.name).setClasses(of:) before the model is used.")
    }
    // Several subclasses can declare the properties of an entity without a class.
    var left: [String] = []
    for name in plan.classes.flatMap({ $0.fetchedProperties.map { "\($0)" } })
    where !left.contains(name) {
      left.append(name)
    }
    if !left.isEmpty {
      notes.append("Fetched properties are left out: \(left.joined(separator: ", ")).")
    }
    let unshared = plan.sharingEntities.flatMap(\.ownProperties).map { "\($0)" }
    if !unshared.isEmpty {
      notes.append(
        "Properties of entities that share the class of a parent are left out: "
          + "\(unshared.joined(separator: ", ")); give each of these entities its own class.")
    }
    return notes
  }

  /// Returns a file for each class, one for its properties, and one that registers the classes.
  package func files(_ style: ClassStyle) -> [GeneratedFile] {
    var files: [GeneratedFile] = []
    for entry in plan.classes {
      if style == .class {
        files.append(
          self.file(named: "\(entry.name)+CoreDataClass.swift", isPublic: entry.parent == nil) {
            entry.writeClass(to: &$0)
          })
      }
      files.append(
        self.file(named: "\(entry.name)+CoreDataProperties.swift") {
          entry.writeProperties(to: &$0)
        })
    }
    files.append(
      file(named: "\(plan.name).swift", isPublic: plan.assignsClasses) {
        writeRegistration(of: plan.classes, to: &$0)
      })
    return files
  }

  /// Returns all code in one file, for a build, with the classes that each entity's Codegen setting
  /// specifies.
  ///
  /// "Manual/None" generates nothing, and "Category/Extension" only the properties.
  ///
  /// - Parameter name: The name of the file.
  package func singleFile(named name: String) -> GeneratedFile {
    let classes = plan.classes.filter { $0.entity.codeGenerationType != nil }
    return file(named: name, isPublic: !classes.isEmpty || plan.assignsClasses) { source in
      writeRegistration(of: classes, to: &source)
      for entry in classes {
        if entry.entity.codeGenerationType == "class" {
          source.gap()
          entry.writeClass(to: &source)
        }
        source.gap()
        entry.writeProperties(to: &source)
      }
    }
  }

  private func file(
    named name: String, isPublic: Bool = true, _ write: (inout SourceLines) -> Void
  ) -> GeneratedFile {
    var source = SourceLines()
    write(&source)
    return GeneratedFile(name: name, body: source.text, model: file, isPublic: isPublic)
  }

  private func writeRegistration(of classes: [ClassPlan], to source: inout SourceLines) {
    source.comment("The classes of the model \(file).")
    source.block("public enum \(plan.name)") { source in
      source.comment(
        "Registers the model's classes, and the locations of their values in a row.",
        "Call it before the model is first used. Calling it again has no effect.")
      source.block("public static func registerClasses()") { source in
        let known = Dictionary(plan.classes.map { ($0.name, $0) }) { first, _ in first }
        let generated = Set(classes.map(\.name))
        for entry in classes { entry.writeRegistration(of: generated, known, to: &source) }
      }
      if plan.assignsClasses { writeAssignment(of: classes, to: &source) }
    }
  }

  private func writeAssignment(of classes: [ClassPlan], to source: inout SourceLines) {
    source.gap()
    source.comment(
      "Sets the classes of the model's entities, which specify none, and registers them.",
      "It's a programmer error to pass a model that's in use.")
    source.block("public static func setClasses(of model: NSManagedObjectModel)") { source in
      source.line("registerClasses()")
      for entry in classes {
        let key = SwiftNames.literal(entry.entity.name ?? "")
        source.line("model.entitiesByName[\(key)]?.managedObjectClassName =")
        source.line("  \(SwiftNames.literal(entry.name))")
      }
    }
  }
}

extension ClassPlan {
  /// Writes the call that registers the class.
  ///
  /// Only the generated ones of its superclasses have slots.
  /// - Parameters:
  ///   - generated: The names of all generated classes.
  ///   - known: All classes of the model, by name.
  fileprivate func writeRegistration(
    of generated: Set<String>, _ known: [String: ClassPlan], to source: inout SourceLines
  ) {
    var lineage = [self]
    while let parent = lineage[0].parent, let next = known[parent] {
      lineage.insert(next, at: 0)
    }
    var slots = lineage.filter { generated.contains($0.name) }
      .map { "\(SwiftNames.quoted($0.name)).Slots.declarations" }
    slots[0] = "slots: " + slots[0]
    source.call(
      "\(SwiftNames.quoted(name)).registerClass",
      ["named: \(SwiftNames.literal(registeredName))"] + slots)
  }
}
