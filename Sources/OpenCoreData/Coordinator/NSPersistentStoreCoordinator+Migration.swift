import ManagedModel
import SQLiteDriver

// Automatic migration: the book's chapter 14.

extension NSPersistentStoreCoordinator {
  /// Opens a store; if it has another version of the model and the options say so, migrates it first.
  ///
  /// Cost: nothing if the version is the same.
  func migrating<Store>(
    _ url: URL, _ configuration: String?, _ options: [AnyHashable: Any]?,
    _ open: () throws -> Store
  ) throws -> Store {
    do {
      return try open()
    } catch let error as NSError
      where error.code == NSPersistentStoreIncompatibleVersionHashError
      && Self.isSet(NSMigratePersistentStoresAutomaticallyOption, options)
      && !Self.isSet(NSReadOnlyPersistentStoreOption, options)
    {
      try migrate(url, configuration, options)
      return try open()
    }
  }

  private static func isSet(_ option: String, _ options: [AnyHashable: Any]?) -> Bool {
    let value = options?[option]
    return value as? Bool ?? (value as? NSNumber)?.boolValue ?? false
  }

  private func migrate(
    _ url: URL, _ configuration: String?, _ options: [AnyHashable: Any]?
  ) throws {
    let source = try sourceModel(of: url)
    guard Self.isSet(NSInferMappingModelAutomaticallyOption, options) else {
      throw NSError.missingMappingModel(source, managedObjectModel, url)
    }
    let mapping = InferredMapping(from: source, to: managedObjectModel)
    guard mapping.obstacles.isEmpty else {
      throw NSError.missingMappingModel(source, managedObjectModel, url, mapping.obstacles)
    }
    do {
      try LightweightMigration(
        url: url, mapping: mapping, configuration: configuration, options: options, hub: eventHub
      ).run()
    } catch let failure as MigrationFailure {
      throw NSError.migration(failure, url)
    } catch let error as SQLiteError {
      throw NSError.migration(error, url)
    } catch let mismatch as SchemaMismatch {
      throw NSError.coreData(
        NSPersistentStoreIncompatibleSchemaError, mismatch.description,
        [NSFilePathErrorKey: url.path])
    }
  }

  /// Returns the model that a store was created with: the one in the store, or else one in the main bundle.
  ///
  /// - Throws: 134130 if there is none.
  private func sourceModel(of url: URL) throws -> NSManagedObjectModel {
    let metadata = try Self.metadataForPersistentStore(type: .sqlite, at: url)
    if let model = try? NSManagedObjectModel.inStore(at: url) { return model }
    if let model = NSManagedObjectModel.mergedModel(from: nil, forStoreMetadata: metadata) {
      return model
    }
    throw NSError.coreData(
      NSMigrationMissingSourceModelError,
      "The store \(url.path) can't be migrated: it contains no model, and the main bundle has none with its "
        + "version hashes. Add the version of the model that it was created with. The store is unchanged.",
      ["URL": url, "metadata": metadata, "reason": "Can't find model for source store"])
  }
}

extension NSError {
  /// Returns the error for a store that no mapping model can migrate.
  ///
  /// - Parameter obstacles: The reasons why none can be inferred; nil if that isn't allowed.
  fileprivate static func missingMappingModel(
    _ source: NSManagedObjectModel, _ destination: NSManagedObjectModel, _ url: URL,
    _ obstacles: [ModelDifference]? = nil
  ) -> NSError {
    var info: [String: Any] = [
      "sourceModel": source, "destinationModel": destination, NSFilePathErrorKey: url.path,
      "reason": "Can't find mapping model for migration",
    ]
    var message = "The store \(url.path) can't be migrated: there's no mapping model"
    if let obstacles {
      let reasons = obstacles.map(\.obstacle).joined(separator: " ")
      message += ", and none can be inferred. \(reasons)"
      let first = obstacles.first
      info["reason"] = "Can't find or automatically infer mapping model for migration"
      info[NSUnderlyingErrorKey] = NSError.coreData(
        NSInferredMappingModelError, reasons,
        [
          "reason": reasons, "entity": first?.entity ?? "", "property": first?.name ?? "",
        ])
    } else {
      message += ". Set NSInferMappingModelAutomaticallyOption to infer it."
    }
    return NSError.coreData(
      NSMigrationMissingMappingModelError, message + " The store is unchanged.", info)
  }

  /// Returns the error for rows that don't fit the new version.
  fileprivate static func migration(_ failure: MigrationFailure, _ url: URL) -> NSError {
    let code =
      if case .notUnique = failure.problem { NSMigrationConstraintViolationError } else {
        NSMigrationError
      }
    let cause = NSError.coreData(
      code, failure.reason,
      ["entity": failure.entity, "property": failure.property, "reason": failure.reason])
    return NSError.coreData(
      NSMigrationError,
      "The store \(url.path) can't be migrated: \(failure.reason) The store is unchanged.",
      [
        "sourceURL": url, "destinationURL": url, NSFilePathErrorKey: url.path,
        "reason": "Cannot migrate store in-place: \(failure.reason)", NSUnderlyingErrorKey: cause,
      ])
  }

  /// Returns the error for a migration that SQLite couldn't complete.
  fileprivate static func migration(_ error: SQLiteError, _ url: URL) -> NSError {
    let advice =
      switch error.code.primary {
      case .busy: "It's open elsewhere: close it there, and open it again."
      case .full: "The disk is full: migration needs about as much space as the store."
      case .readOnly: "The file or its folder can't be written."
      default: "\(error)"
      }
    return NSError.coreData(
      NSMigrationError,
      "The store \(url.path) can't be migrated. \(advice) The store is unchanged.",
      [
        "sourceURL": url, "destinationURL": url, NSFilePathErrorKey: url.path,
        "reason": "Cannot migrate store in-place: \(error.message)",
        NSUnderlyingErrorKey: NSError.coreData(
          NSSQLiteError, "\(error)", [NSSQLiteErrorDomain: Int(error.code.rawValue)]),
      ])
  }
}

extension ModelDifference {
  /// What can't be inferred, as a sentence with the reason.
  fileprivate var obstacle: String {
    let change = [kind.rawValue, detail].compactMap { $0 }.joined(separator: ", ")
    return
      "\(subject.rawValue.prefix(1).uppercased() + subject.rawValue.dropFirst()) \(path): \(change)."
      + (reason.map { " \($0)" } ?? "")
  }
}
