extension NSPersistentStore {
  /// The class of the manager that migrates stores object by object.
  ///
  /// It's `NSMigrationManager` for every type of store. Core Data's stores can have others.
  public class func migrationManagerClass() -> AnyClass { NSMigrationManager.self }
}
