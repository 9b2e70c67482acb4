import ManagedModel
import SQLiteDriver

// The metadata of a store that's open: other processes can write to the file's at any time.

extension SQLiteStore {
  /// Writes metadata that was set and hasn't been written together with rows.
  ///
  /// **Cost:** one transaction, in which the file's metadata is read and written.
  func saveMetadata() throws {
    try pool.withWriter { connection in
      try checkIsNotMoving()
      guard hasUnsavedMetadata else { return }
      try savingMetadata {
        try connection.execute("BEGIN IMMEDIATE")
        do {
          try writeMetadata(on: connection)
          try connection.execute("COMMIT")
        } catch {
          // The original error is the one to report.
          try? connection.execute("ROLLBACK")
          throw error
        }
      }
    }
  }

  /// Adds what was set here to the file's metadata, in the open write transaction.
  ///
  /// What others have written since it was read stays.
  func writeMetadata(on connection: Connection) throws {
    let stored = try Self.storedMetadata(on: connection)
    try write(metadataToSave(into: stored), to: connection)
  }

  /// Adds what was set here and isn't saved to the metadata of a copy of the file.
  func writeMetadata(toCopy file: URL) throws {
    do {
      let connection = try Connection(path: file.path, access: .writing)
      defer { connection.close() }
      let stored = try Self.storedMetadata(on: connection)
      try write(mergedMetadata(into: stored), to: connection)
    } catch let error as SQLiteError {
      throw NSError.coreData(
        error.openingCode, "\(file.relativePath) couldn't be written: \(error)",
        [NSFilePathErrorKey: file.path, NSSQLiteErrorDomain: Int(error.code.rawValue)])
    }
  }

  private func write(_ values: [String: Any], to connection: Connection) throws {
    let uuid = values[StoreMetadata.uuidKey] as? String ?? identifier
    try StoreMetadata(uuid: uuid, values: values).write(to: connection)
  }

  /// Returns the metadata in a file; `nil` if it was corrupted after the store was opened.
  private static func storedMetadata(on connection: Connection) throws -> [String: Any]? {
    do {
      return try StoreMetadata(reading: connection).publicValues
    } catch is StoreMetadata.Problem {
      return nil
    }
  }
}
