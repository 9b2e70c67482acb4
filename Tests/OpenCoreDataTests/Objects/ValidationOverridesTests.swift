import Testing

@testable import OpenCoreData

@Suite("Classes with validation of their own")
struct ValidationOverridesTests {
  private class Silent: NSManagedObject {
    override func willSave() {}
    override func validateForInsert() throws { try super.validateForInsert() }
  }

  private class Strict: NSManagedObject {
    override func validateValue(_ value: inout Any?, forKey key: String) throws {
      try super.validateValue(&value, forKey: key)
    }
  }

  private final class Heir: Strict {
    override func awakeFromInsert() {}
    func validateName() {}
  }

  private final class StrictAboutOne<Value>: NSManagedObject {
    override func validateValue(_ value: inout Any?, forKey key: String) throws {}
  }

  private final class SilentAboutOne<Value>: NSManagedObject {
    var value: Value?
  }

  @Test("A class that overrides validateValue is told from one that overrides other methods")
  func overrides() {
    #expect(!ValidationOverrides.mayExist(in: NSManagedObject.self))
    #expect(!ValidationOverrides.mayExist(in: Silent.self))
    #expect(ValidationOverrides.mayExist(in: Strict.self))
  }

  @Test("An inherited override counts, whatever the heir adds")
  func inherited() {
    #expect(ValidationOverrides.mayExist(in: Heir.self))
  }

  @Test("Generic classes too")
  func generic() {
    #expect(ValidationOverrides.mayExist(in: StrictAboutOne<Int>.self))
    #expect(!ValidationOverrides.mayExist(in: SilentAboutOne<String>.self))
  }
}
