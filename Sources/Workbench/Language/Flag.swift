/// Yes and no, as YAML 1.1 and people write them.
package enum Flag {
  /// True for yes, true and on, false for no, false and off, whatever their case; nil for the rest.
  package static func value(of text: String) -> Bool? {
    switch text.lowercased() {
    case "yes", "true", "on": true
    case "no", "false", "off": false
    default: nil
    }
  }
}
