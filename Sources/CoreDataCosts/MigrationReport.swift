/// What became of old stores that were migrated.
public struct MigrationReport: Sendable, CustomStringConvertible {
  /// A difference between a migrated store and a fixture.
  public struct Difference: Sendable, Equatable, CustomStringConvertible {
    /// The name of the entity.
    public let entity: String
    /// The key of the object; `nil` if the difference is about the entity.
    public let object: String?
    /// The property; `nil` if the object is missing or unexpected.
    public let property: String?
    /// The fixture's value; for an object, `nil` if it's unexpected.
    public let expected: String?
    /// The store's value; for an object, `nil` if it's missing.
    public let actual: String?

    /// The difference on one line.
    public var description: String {
      let path = "\(entity)\(object.map { " \($0)" } ?? "")"
      guard let property else {
        return "\(path): \(expected == nil ? "unexpected" : "missing")"
      }
      return "\(path): \(property) is \(actual ?? "nil"), expected \(expected ?? "nil")"
    }
  }

  /// Values or objects of the old version that the new model has no property or entity for.
  public struct Loss: Sendable, Equatable, CustomStringConvertible {
    /// The name of the entity.
    public let entity: String
    /// The property; `nil` if the entity is removed.
    public let property: String?
    /// The number of values, or of objects.
    public let count: Int

    /// The loss on one line.
    public var description: String {
      property.map { "\(count) \(count == 1 ? "value" : "values") of \(entity).\($0)" }
        ?? "\(count) \(count == 1 ? "object" : "objects") of \(entity)"
    }
  }

  /// An old store.
  public struct Store: Sendable, CustomStringConvertible {
    /// The name of its file.
    public let name: String
    /// The version that it had: the name of a version, or the version identifiers in its metadata.
    public let version: String
    /// The reason why it isn't migrated; `nil` if it is.
    public internal(set) var error: String?
    /// How the migrated copy differs from the fixture.
    public internal(set) var differences: [Difference] = []
    /// What was lost; `nil` if the model of the store isn't known.
    ///
    /// A loss doesn't fail the check, because removing a property can be intended.
    public internal(set) var lost: [Loss]?

    /// Whether it's migrated to the content of the fixture.
    public var passes: Bool { error == nil && differences.isEmpty }

    /// The result, with a line for each difference and each loss.
    public var description: String {
      var lines = ["\(passes ? "✓" : "✗") \(name), version \(version)"]
      if let error { lines.append("  not migrated: \(error)") }
      lines += differences.map { "  ✗ \($0)" }
      lines += (lost ?? []).map { "  lost: \($0)" }
      return lines.joined(separator: "\n")
    }
  }

  /// The stores, by the names of their files.
  public internal(set) var stores: [Store]

  /// Whether all stores are migrated to the content of the fixture.
  public var passes: Bool { stores.allSatisfy(\.passes) }

  /// The results of all stores.
  public var description: String { stores.map(\.description).joined(separator: "\n") }
}

/// A reason why migrations can't be checked.
public enum MigrationCheckError: Error, CustomStringConvertible {
  /// The folder contains no SQLite store.
  case noStores(String)
  /// The folder contains no version of a model.
  case noVersions(String)
  /// Stores are to be migrated step by step, but no versions were passed.
  case versionsRequired
  /// The version of a store that's to be migrated step by step isn't one of those passed.
  case unknownVersion

  /// What's wrong, and what to do about it.
  public var description: String {
    switch self {
    case .noStores(let path):
      "\(path) contains no SQLite store. Copy a store of each version to it."
    case .noVersions(let path):
      "\(path) contains no version of a model. Use the .momd of the app, or its .xcdatamodeld on Linux."
    case .versionsRequired:
      "Migrating step by step requires the model's versions. Pass the app's .momd, or .xcdatamodeld on Linux."
    case .unknownVersion:
      "The store's model isn't one of the versions, so it can't be migrated step by step. Add its version."
    }
  }
}
