package import Foundation
package import ManagedModel
package import WorkbenchText

/// A model with its versions, between which a step can migrate a store.
package struct VersionedModel: Sendable {
  /// The `.xcdatamodeld` or `.momd` folder.
  package let url: URL
  /// The versions, in the order in which they were released.
  package let versions: [ModelVersion]

  /// The reason why a version can't be read, and what to do; `nil` if all are in `versions`.
  private let problem: (message: String, nextStep: String)?

  /// Reads the versions of a model.
  ///
  /// Returns `nil` if the file isn't a folder of versions. If one of them can't be read, steps that
  /// use versions are errors.
  package init?(_ url: URL?) {
    guard let url, ["xcdatamodeld", "momd"].contains(url.pathExtension),
      let names = try? NSManagedObjectModel.versions(of: url)
    else { return nil }
    self.url = url
    var versions: [ModelVersion] = []
    var problem: (message: String, nextStep: String)?
    for name in names {
      do {
        let model = try NSManagedObjectModel.read(contentsOf: url, version: name)
        versions.append(ModelVersion(name: name, model: model))
      } catch {
        guard problem == nil else { continue }
        let first = error.errors.first { !$0.isWarning } ?? error.errors[0]
        let model = CommandWord.quoted(url.relativePath)
        problem = (
          message: "the version `\(name)` of the model can't be read: \(first)",
          nextStep: "run `cdprof model \(model) --version \(CommandWord.quoted(name)) --check`"
        )
      }
    }
    self.versions = versions
    self.problem = problem
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
  /// - Throws: A problem at the name if there's no such version, or if one can't be read.
  package func version(_ name: Word) throws(LanguageProblem) -> ModelVersion {
    if let problem {
      throw LanguageProblem(problem.message, at: name.range, nextStep: problem.nextStep)
    }
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
