/// The name that a value transformer is registered under and that a model names it by.
///
/// Apple counterpart: `NSValueTransformerName`, which Foundation lacks on Linux.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
  /// The name as the model writes it.
  public let rawValue: String

  /// Makes a name.
  public init(_ rawValue: String) {
    self.rawValue = rawValue
  }

  /// Makes a name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Keyed archives of property-list values, registered from the start.
  public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName(
    "NSSecureUnarchiveFromData")

  /// Keyed archives of property-list values and of the program's own classes that have `NSCoding`,
  /// registered from the start.
  ///
  /// It was Core Data's default before `secureUnarchiveFromDataTransformerName`.
  public static let keyedUnarchiveFromDataTransformerName = NSValueTransformerName(
    "NSKeyedUnarchiveFromData")
}
