import Foundation
import ManagedModel

/// The links from the page of a lesson to the other pages of its course.
struct CourseNavigation {
  /// A link to another page.
  struct Link {
    var title: String
    var link: String
  }

  /// The name of the lesson, which is unique in the course.
  var lesson: String
  var contents: String
  /// The number of the lesson, as text.
  var position: String
  var previous: Link?
  var next: Link?
}

/// What the page of a lesson needs to change and run its scenario on the server that sent it.
struct LiveLesson {
  /// The sources that the page's policy allows in addition: only the page's own server.
  static let sources = ["connect-src 'self'", "frame-src 'self'"]

  /// The name of the lesson, by which the server knows it.
  let name: String
  /// The relative URL of the folder that contains all pages of the course.
  let root: String
  /// The relative URL of the lesson's page without questions and without this part.
  let plain: String
  /// The relative URL of the scenario's text.
  let text: String
}

/// Splits texts into parts, and links each term of a glossary where it's first used.
struct TermLinks {
  /// A part of a text.
  struct Part {
    var text: String
    /// The URL of the term's definition; `nil` for other text.
    var link: String?
  }

  private let glossary: String
  private var waiting: [String]

  /// - Parameters:
  ///   - terms: The terms; longer ones have precedence.
  ///   - glossary: The relative URL of the glossary.
  init(_ terms: [String], glossary: String) {
    self.glossary = glossary
    waiting = terms.sorted { ($1.count, $0) < ($0.count, $1) }
  }

  /// A value that links nothing.
  static var none: TermLinks { TermLinks([], glossary: "") }

  /// Returns the parts of a text, and remembers the terms that were linked.
  mutating func parts(of text: String) -> [Part] {
    for (index, term) in waiting.enumerated() {
      guard let range = TermLinks.range(of: term, in: text) else { continue }
      waiting.remove(at: index)
      let link = "\(glossary)#\(TermLinks.id(of: term))"
      return parts(of: String(text[..<range.lowerBound]))
        + [Part(text: String(text[range]), link: link)]
        + parts(of: String(text[range.upperBound...]))
    }
    return text.isEmpty ? [] : [Part(text: text, link: nil)]
  }

  /// Returns the ID of a term on the page of the glossary.
  static func id(of term: String) -> String {
    "term-" + term.lowercased().map { $0.isLetter || $0.isNumber ? String($0) : "-" }.joined()
  }

  /// Returns the first occurrence as a whole word, in the singular or plural.
  private static func range(of term: String, in text: String) -> Range<String.Index>? {
    var start = text.startIndex
    while let found = text.range(
      of: term, options: .caseInsensitive, range: start..<text.endIndex)
    {
      var end = found.upperBound
      for ending in ["es", "s"] where text[end...].hasPrefix(ending) {
        end = text.index(end, offsetBy: ending.count)
        break
      }
      let isWord = { (character: Character?) in character?.isLetter ?? false }
      let before =
        found.lowerBound > text.startIndex
        ? text[text.index(before: found.lowerBound)] : nil
      if !isWord(before), !isWord(end < text.endIndex ? text[end] : nil) {
        return found.lowerBound..<end
      }
      start = found.upperBound
    }
    return nil
  }
}
