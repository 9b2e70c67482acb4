import ManagedModel

/// The values of a row in a conflict; externally stored ones are read when they're first used.
///
/// Used on the context's queue. Merge policies usually resolve a conflict without the values, which
/// can be large.
final class ConflictSnapshot {
  /// The values, with references to external data files.
  private let stored: [String: Any]
  private let layout: EntityLayout
  private let store: RowStore?

  /// The values by property, without those whose external data file was removed.
  private(set) lazy var values = read(stored, at: "")

  /// Creates a snapshot of an object's row; `nil` without values.
  ///
  /// - Parameters:
  ///   - stored: The result of `snapshot(_:_:)`, or values that a program has provided.
  ///   - object: The object of the row.
  init?(_ stored: [String: Any]?, of object: NSManagedObject) {
    guard let stored else { return nil }
    self.stored = stored
    layout = object.layout
    store = layout.externalSlots.isEmpty ? nil : object.context?.store(for: object)
  }

  /// Replaces references to files with values, including those in composite attributes.
  private func read(_ values: [String: Any], at path: String) -> [String: Any] {
    guard !layout.externalSlots.isEmpty else { return values }
    var result = values
    for (name, value) in values {
      if let file = value as? ExternalFile {
        result[name] = contents(of: file, path + name)
      } else if case .composite? = layout.position(of: path + name),
        let elements = value as? [String: Any]
      {
        result[name] = read(elements, at: path + name + ".")
      }
    }
    return result
  }

  private func contents(of file: ExternalFile, _ path: String) -> Any? {
    guard let bytes = try? store?.externalData(file),
      case .slot(let index)? = layout.position(of: path)
    else { return nil }
    guard let transformer = layout.transformer(layout.slots[index]) else { return bytes }
    return transformer.decode(bytes) ?? NSNull()
  }
}
