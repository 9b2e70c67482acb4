/// A place in a source file that caused an event: a scenario's step, a shell's line, a call.
package struct CallSite: Hashable, Sendable, Codable, CustomStringConvertible {
  /// `Scenarios/faults.yml`, `shell`, or a `#fileID`.
  package var file: String
  /// Counted from 1.
  package var line: Int

  package init(file: String, line: Int) {
    self.file = file
    self.line = line
  }

  /// `faults.yml:16`: the last path component and the line.
  package var description: String {
    let name = file.split(separator: "/").last.map(String.init) ?? file
    return "\(name):\(line)"
  }
}
