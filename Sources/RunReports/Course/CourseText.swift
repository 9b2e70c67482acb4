import Foundation
import ManagedModel
import WorkbenchText

/// The texts of a course, from Markdown files next to its scenarios: the order of the lessons, the
/// chapters, and the glossary.
///
/// Only headings, paragraphs, and lists are supported.
package struct CourseText: Sendable {
  /// A term of the glossary with its definition.
  package struct Term: Sendable {
    package var name: String
    package var definition: String
  }

  /// A paragraph, or a list.
  struct Block: Sendable {
    var text: String
    var items: [String]
    var isList: Bool
  }

  /// The text of a chapter.
  struct Chapter: Sendable {
    var title: String
    var blocks: [Block]
  }

  /// The title of the course, or `nil` if its texts have none.
  let title: String?
  /// The paragraphs before the list of lessons.
  let introduction: [Block]
  /// The names of the lessons of the main path, in order.
  package let path: [String]
  package let terms: [Term]
  /// The texts of the chapters by the names of their folders.
  let chapters: [String: Chapter]

  /// Reads `course.md` and `glossary.md` of a folder of scenarios, and `chapter.md` of its
  /// subfolders, each of which may be missing.
  ///
  /// `course.md` begins with a title and an introduction; each list element names a lesson by its
  /// path without `.yml`. In `glossary.md`, each element is a term, a colon, and its definition.
  ///
  /// - Throws: An `InvalidInputError` if a file can't be read.
  package init(folder: String) throws {
    let course = try CourseText.blocks(folder, "course.md")
    let titles = course.map(\.text).filter { $0.hasPrefix("# ") }
    title = titles.first.map { String($0.dropFirst(2)) }
    introduction = course.filter { !$0.isList && !$0.text.hasPrefix("# ") }
    path = CourseText.items(in: course)
    terms = try CourseText.items(in: CourseText.blocks(folder, "glossary.md")).compactMap { item in
      guard let colon = item.firstIndex(of: ":") else { return nil }
      let definition = item[item.index(after: colon)...].drop { $0 == " " }
      return Term(name: String(item[..<colon]), definition: String(definition))
    }
    chapters = try InputFile.names(in: folder).reduce(into: [:]) { chapters, name in
      let blocks = try CourseText.blocks(folder, "\(name)/chapter.md")
      guard let title = blocks.first, title.text.hasPrefix("# ") else { return }
      chapters[name] = Chapter(
        title: String(title.text.dropFirst(2)), blocks: Array(blocks.dropFirst()))
    }
  }

  private static func items(in blocks: [Block]) -> [String] { blocks.flatMap(\.items) }

  private static func blocks(_ folder: String, _ name: String) throws -> [Block] {
    let file = "\(folder)/\(name)"
    guard FileKind.exists(file, followingLinks: true) else { return [] }
    let data = try InputFile.read(file, limit: 1 << 20)
    var blocks: [Block] = []
    var isOpen = false
    for line in String(decoding: data, as: UTF8.self).split(
      omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    {
      let text = line.trimmingCharacters(in: .whitespaces)
      let last = blocks.count - 1
      if text.isEmpty {
        isOpen = false
      } else if text.hasPrefix("- ") {
        if !isOpen || !blocks[last].isList {
          blocks.append(Block(text: "", items: [], isList: true))
        }
        blocks[blocks.count - 1].items.append(String(text.dropFirst(2)))
        isOpen = true
      } else if isOpen, blocks[last].isList {
        blocks[last].items[blocks[last].items.count - 1] += " " + text
      } else if isOpen {
        blocks[last].text += " " + text
      } else {
        blocks.append(Block(text: text, items: [], isList: false))
        isOpen = true
      }
    }
    return blocks
  }
}
