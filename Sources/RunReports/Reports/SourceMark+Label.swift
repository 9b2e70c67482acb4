import ScenarioLanguage

extension SourceMark {
  /// As a report prints it: Apple's name with a capital.
  var label: String {
    self == .apple ? "Apple" : rawValue
  }
}
