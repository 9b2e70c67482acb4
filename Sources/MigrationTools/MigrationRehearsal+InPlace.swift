package import Foundation
import OpenCoreData
import WorkbenchText

// The migration of the store itself.

extension MigrationRehearsal {
  /// Migrates the store itself, by the same steps.
  ///
  /// Each step is complete when it ends; if a later one fails, the store has a version in between,
  /// which the error names. **Cost:** that of the migration, and of copying the store.
  /// - Parameter keepsBackup: Whether to keep a copy of the store next to it: `Moods~.sqlite`, or
  ///   with a number if that exists.
  /// - Returns: The copy; `nil` if none is kept.
  /// - Throws: The errors of `ProgressiveMigration.run(options:)`. The copy is removed then, unless
  ///   the store has, or may have, another version.
  package func migrateOriginal(keepsBackup: Bool) throws -> URL? {
    var backup: URL?
    if keepsBackup {
      let file = try unusedBackup()
      // A part of a copy could be mistaken for a backup.
      try place(store, at: file)
      backup = file
    }
    for (index, step) in route.steps.enumerated() {
      do {
        try step.run(at: store, type: route.type, keepsOldStore: false)
      } catch {
        // The step is complete, and its error says what a power loss can undo.
        if (error as NSError).isOfUnsyncedFile { throw error }
        // A commit that reports an error can take effect when the WAL is recovered.
        let isBefore = hasVersion(before: step)
        guard index > 0 || !isBefore else {
          // The store is unchanged. An error of removing its copy would hide the cause.
          if let backup { try? StoreFile.remove(at: backup) }
          throw error
        }
        throw interrupted(at: step, isBefore: isBefore, by: error, backup)
      }
    }
    return backup
  }

  /// Returns whether the store has the version that a step begins with; `false` if that can't be
  /// read.
  private func hasVersion(before step: ProgressiveMigration.Step) -> Bool {
    let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: route.type, at: store)
    return metadata.map {
      step.source.isConfiguration(
        withName: step.configuration, compatibleWithStoreMetadata: $0)
    } ?? false
  }

  /// Returns the error for a step that failed after others, or that may have taken effect.
  private func interrupted(
    at step: ProgressiveMigration.Step, isBefore: Bool, by error: any Error, _ backup: URL?
  ) -> NSError {
    let kept = backup.map { " A backup of the original store is at \($0.relativePath)." } ?? ""
    let end =
      isBefore
      ? "stopped at the version \(step.from): the step to \(step.to) failed."
      : "to the version \(step.to) failed, but may have taken effect."
    return NSError(
      domain: NSCocoaErrorDomain, code: NSMigrationError,
      userInfo: [
        NSLocalizedDescriptionKey:
          "The migration of \(store.relativePath) \(end) \(ErrorText.of(error))\(kept) Run the command "
          + "again to continue.",
        NSUnderlyingErrorKey: error as NSError,
      ])
  }

  private static let backupLimit = 10_000

  /// Returns the first file name for a backup that nothing has.
  private func unusedBackup() throws -> URL {
    let stem = store.deletingPathExtension().lastPathComponent
    let suffix = store.pathExtension.isEmpty ? "" : ".\(store.pathExtension)"
    let folder = store.deletingLastPathComponent()
    for number in 1...Self.backupLimit {
      let name = "\(stem)~\(number == 1 ? "" : "\(number)")"
      let names = ["", "-wal", "-shm", "-journal"].map { "\(name)\(suffix)\($0)" }
      let isUnused = (names + [".\(name)_SUPPORT"]).allSatisfy {
        FileKind.mode(of: folder.appendingPathComponent($0).path, followingLinks: false) == nil
      }
      guard isUnused else { continue }
      let typed = store.relativePath.deletingLastPathComponent as NSString
      return URL(fileURLWithPath: typed.appendingPathComponent(name + suffix))
    }
    throw InvalidInputError(
      kind: .unusable, message: "there are \(Self.backupLimit) backups of \(store.relativePath)",
      nextStep: "remove old ones, or use --no-backup")
  }
}
