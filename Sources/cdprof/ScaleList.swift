import ArgumentParser
import Foundation

/// The value of `--scale`: one or more integers, separated by commas.
struct ScaleList: ExpressibleByArgument {
  let scales: [Int]

  /// Returns nil if the argument isn't a list of integers.
  init?(argument: String) {
    let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
      .map { Int($0.trimmingCharacters(in: .whitespaces)) }
    let numbers = parts.compactMap(\.self)
    guard numbers.count == parts.count, !numbers.isEmpty else { return nil }
    scales = numbers.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  init(_ scale: Int) {
    scales = [scale]
  }

  var defaultValueDescription: String { scales.map(String.init).joined(separator: ",") }
}
