import ManagedModel

/// An object that's archived with the name of another class.
final class ArchivedImpostor: NSObject, NSSecureCoding {
  static var supportsSecureCoding: Bool { true }
  let numbers: [String: Int]
  let containsItself: Bool

  init(_ numbers: [String: Int], containsItself: Bool = false) {
    self.numbers = numbers
    self.containsItself = containsItself
  }

  init?(coder: NSCoder) { nil }

  func encode(with coder: NSCoder) {
    for (key, number) in numbers { coder.encode(number, forKey: key) }
    guard containsItself else { return }
    coder.encode(NSString("sum:"), forKey: "NSSelectorName")
    coder.encode(NSArray(object: self), forKey: "NSArguments")
  }
}
