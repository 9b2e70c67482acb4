import ManagedModel

/// Archives an object under the name of another class.
final class ArchivedImpostor: NSObject, NSSecureCoding {
  static var supportsSecureCoding: Bool { true }
  let numbers: [String: Int]
  let holdsItself: Bool

  init(_ numbers: [String: Int], holdsItself: Bool = false) {
    self.numbers = numbers
    self.holdsItself = holdsItself
  }

  init?(coder: NSCoder) { nil }

  func encode(with coder: NSCoder) {
    for (key, number) in numbers { coder.encode(number, forKey: key) }
    guard holdsItself else { return }
    coder.encode(NSString("sum:"), forKey: "NSSelectorName")
    coder.encode(NSArray(object: self), forKey: "NSArguments")
  }
}
