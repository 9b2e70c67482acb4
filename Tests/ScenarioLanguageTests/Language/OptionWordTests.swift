import ScenarioFiles
import Testing

@testable import ScenarioLanguage

@Suite("Option keywords")
struct OptionWordTests {
  /// Each keyword is parsed, printed, and assigned its number as itself.
  @Test(arguments: OptionWord.allCases)
  func everyWordRoundTrips(word: OptionWord) throws {
    let verb = try #require(Verb.allCases.first { $0.allOptions.contains(word) })
    let step = try ShellLine.parse(line(verb, word), number: 1)
    let option = try #require(step.options.first { $0.word == word })
    #expect(step.options.filter { $0.word == word }.count == 1)
    let reparsed = try ShellLine.parse(step.text, number: 1)
    #expect(reparsed.options == step.options, "\(step.text)")
    if case .number = word.kind {
      #expect(option.number?.text == "20")
    } else {
      #expect(option.number == nil)
    }
    #expect(step.yaml.contains("\(word.rawValue): "), "\(step.yaml)")
  }

  /// A line with a verb, one option, and the other options that the verb requires.
  private func line(_ verb: Verb, _ word: OptionWord) -> String {
    let subject =
      switch verb.subject {
      case .entity: " Mood"
      case .result, .context: " moods"
      case .text: " cache_size"
      case .none: ""
      }
    let missing: [OptionWord] = [.assignments, .keys, .sort].filter { other in
      other != word && !(word == .remove || word == .removals)
        && verb.needs.contains { $0.contains(other.rawValue) }
    }
    let options = ([word] + missing).map(\.example).joined(separator: " ")
    let name = verb == .index && word != .remove ? " as byDate" : ""
    return "\(verb.rawValue)\(subject) \(options)\(name)"
  }
}
