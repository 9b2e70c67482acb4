import Testing

@testable import OpenCoreData

@Suite("Overridden methods")
struct MethodOverridesTests {
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

  @Test("Overriding validateValue is detected")
  func overrideOfValidateValueIsDetected() {
    #expect(!MethodOverrides.ofValidation.mayExist(in: NSManagedObject.self))
    #expect(!MethodOverrides.ofValidation.mayExist(in: Silent.self))
    #expect(MethodOverrides.ofValidation.mayExist(in: Strict.self))
  }

  @Test("An inherited override is detected")
  func inheritedOverrideIsDetected() {
    #expect(MethodOverrides.ofValidation.mayExist(in: Heir.self))
  }

  private final class Observer: NSManagedObject {
    override func didChangeValue(forKey key: String) {}
  }

  private class Waking: NSManagedObject {
    override func awakeFromFetch() { super.awakeFromFetch() }
  }

  private final class WakingHeir: Waking {}

  @Test("Overriding awakeFromFetch is detected, and only that")
  func overrideOfAwakeFromFetchIsDetected() {
    #expect(MethodOverrides.ofAwaking.mayExist(in: Waking.self))
    #expect(MethodOverrides.ofAwaking.mayExist(in: WakingHeir.self))
    #expect(!MethodOverrides.ofAwaking.mayExist(in: NSManagedObject.self))
    #expect(!MethodOverrides.ofAwaking.mayExist(in: Strict.self))
    #expect(!MethodOverrides.ofAwaking.mayExist(in: Silent.self))
  }

  @Test("Overrides are detected per method")
  func overridesAreDetectedPerMethod() {
    #expect(MethodOverrides.ofChanges.mayExist(in: Observer.self))
    #expect(!MethodOverrides.ofChanges.mayExist(in: Strict.self))
    #expect(!MethodOverrides.ofValidation.mayExist(in: Observer.self))
  }

  @Test("Overrides in generic classes are detected")
  func overridesInGenericClassesAreDetected() {
    #expect(MethodOverrides.ofValidation.mayExist(in: StrictAboutOne<Int>.self))
    #expect(!MethodOverrides.ofValidation.mayExist(in: SilentAboutOne<String>.self))
  }
}
