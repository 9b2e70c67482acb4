import OpenCoreData

/// The value of an attribute in the reference.
enum AttributeValue: Hashable {
  case integer(Int64)
  case text(String)
  case date(Double)
  case bytes([UInt8])

  var managed: Any {
    switch self {
    case .integer(let value): value
    case .text(let value): value
    case .date(let value): Date(timeIntervalSinceReferenceDate: value)
    case .bytes(let value): Data(value)
    }
  }

  init?(_ value: Any?) {
    switch value {
    case let value as Int64: self = .integer(value)
    case let value as String: self = .text(value)
    case let value as Date: self = .date(value.timeIntervalSinceReferenceDate)
    case let value as Data: self = .bytes([UInt8](value))
    default: return nil
    }
  }
}
