package import Foundation
package import ManagedModel
package import WorkbenchText

/// A model with its versions, between which a step can migrate a store.
package struct VersionedModel: Sendable {
  /// The `.xcdatamodeld` or `.momd` folder.
  package let url: URL
  /// The versions, in the order in which they were released.
  package let versions: [ModelVersion]

  /// Reads the versions of a model.
  ///
  /// Returns `nil` if the file isn't a folder of versions, or if one of them can't be read, which
  /// an error of the model reports.
  package init?(_ url: URL?) {
    guard let url, ["xcdatamodeld", "momd"].contains(url.pathExtension),
      let names = try? NSManagedObjectModel.versions(of: url)
    else { return nil }
    self.url = url
    versions = names.compactMap { name in
      let model = try? NSManagedObjectModel.read(contentsOf: url, version: name)
      return model.map { ModelVersion(name: name, model: $0) }
    }
    guard versions.count == names.count else { return nil }
  }

  /// The names of the versions.
  package var names: [String] { versions.map(\.name) }

  /// Returns a version, or `nil` if there's none with the name.
  package func version(_ name: String) -> ModelVersion? {
    versions.first { $0.name == name }
  }

  /// Returns the location of a mapping model, which is next to the model.
  package func mappingURL(_ name: String) -> URL {
    url.deletingLastPathComponent().file(at: name)
  }

  /// Returns a version.
  ///
  /// - Throws: A problem at the name if there's no such version.
  package func version(_ name: Word) throws(LanguageProblem) -> ModelVersion {
    if let version = version(name.text) { return version }
    throw LanguageProblem(
      "the model has no version `\(name.text)`", at: name.range,
      didYouMean: NearestName.of(name.text, among: names),
      nextStep: "its versions are: \(ModelNames.list(names))")
  }
}

/// Checks a step that migrates the store.
struct MigrationCheck {
  /// The versions of the model, or `nil` if it has none.
  let versions: VersionedModel?

  /// Checks the version and the mapping model.
  ///
  /// - Throws: A problem at the name of the version or of the mapping model.
  func check(_ step: Step) throws(LanguageProblem) {
    let range = step.ranges.subject ?? step.ranges.verb
    guard let versions else {
      throw LanguageProblem(
        "the model has no versions, so the store can't be migrated", at: range,
        nextStep: "use a scenario whose `model` is an .xcdatamodeld or .momd folder")
    }
    _ = try versions.version(Word(step.subject, at: range))
    guard let name = step.text(of: .mapping) else { return }
    do {
      _ = try MappingModelFile(versions.mappingURL(name))
    } catch {
      throw LanguageProblem(
        "the mapping model `\(name)` can't be read: \(ErrorText.of(error))",
        at: step.ranges.range(of: .mapping),
        nextStep: "use a path relative to \(versions.url.deletingLastPathComponent().relativePath)")
    }
  }
}
