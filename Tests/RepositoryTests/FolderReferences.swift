import Foundation

/// The folders of a module, and the references to declarations of other folders: to types, to free
/// functions and constants, and to members of extensions.
struct FolderReferences {
  struct Reference {
    let file: SourceFile
    let line: Int
    let from: String
    let name: String
    let to: String

    /// The path of the file in the module's folder, without `.swift`.
    var path: String {
      String(file.path.split(separator: "/").dropFirst(2).joined(separator: "/").dropLast(6))
    }
  }

  let references: [Reference]
  let folders: Set<String>

  /// The references of each module.
  static let ofModules = Dictionary(grouping: Repository.sources, by: \.module)
    .mapValues(FolderReferences.init)

  private init(_ files: [SourceFile]) {
    let words = files.map { file in file.code.map(Word.all) }
    let declarations = Declarations(files, words)
    references = zip(files, words).flatMap { file, lines in
      let from = Self.folder(of: file)
      return lines.enumerated().flatMap { index, words in
        words.compactMap { word -> Reference? in
          guard let to = declarations.folder(of: word), to != from else { return nil }
          return Reference(file: file, line: index, from: from, name: word.text, to: to)
        }
      }
    }
    folders = Set(files.map(Self.folder)).subtracting([Self.root])
  }

  /// The folder name of files directly in the module's folder.
  static let root = ""

  private static func folder(of file: SourceFile) -> String {
    let parts = file.path.split(separator: "/")
    return parts.count > 3 ? String(parts[2]) : root
  }
}

extension FolderReferences {
  /// An identifier or keyword of a line of code.
  private struct Word {
    let text: String
    /// The number of bytes before it in its line.
    let column: Int
    /// Whether a period precedes it.
    let isMember: Bool
    /// Whether a colon follows it, as it does a parameter, a label, and a typed variable.
    let isLabel: Bool

    static func all(of line: String) -> [Word] {
      let bytes = Array(line.utf8)
      var words: [Word] = []
      var index = 0
      while index < bytes.count {
        guard isPart(bytes[index]) else {
          index += 1
          continue
        }
        let start = index
        while index < bytes.count, isPart(bytes[index]) { index += 1 }
        words.append(
          Word(
            text: String(decoding: bytes[start..<index], as: UTF8.self), column: start,
            isMember: start > 0 && bytes[start - 1] == UInt8(ascii: "."),
            isLabel: bytes[index...].first { $0 != UInt8(ascii: " ") } == UInt8(ascii: ":")))
      }
      return words
    }

    private static func isPart(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
        true
      default: false
      }
    }
  }

  /// The declarations of a module, with their folders.
  ///
  /// A type in a file is its folder's, even if another folder nests a type of the same name. All
  /// other declarations are known only if no other declaration, parameter, or variable of the
  /// module has the same name, because the words of a line don't tell which one is meant.
  private struct Declarations {
    private var types: [String: String] = [:]
    private var others: [String: String] = [:]

    private static let typeKeywords: Set = [
      "class", "struct", "enum", "protocol", "typealias", "actor",
    ]
    private static let keywords = typeKeywords.union(["func", "var", "let", "case", "for"])
    private static let modifiers: Set = [
      "public", "package", "internal", "private", "fileprivate", "open", "final", "indirect",
      "static", "class", "nonisolated", "mutating", "lazy", "weak", "unowned", "override",
      "required", "convenience", "unsafe", "set", "discardableResult", "inline", "__always",
      "usableFromInline", "inlinable", "unchecked", "Sendable",
    ]
    /// Members of the standard library with the name of a declaration.
    private static let standard: Set = ["merging"]

    init(_ files: [SourceFile], _ lines: [[[Word]]]) {
      var counts: [String: Int] = [:]
      for (file, lines) in zip(files, lines) {
        let folder = FolderReferences.folder(of: file)
        var isInExtension = false
        for words in lines where !words.isEmpty {
          Self.count(words, in: &counts)
          let before = words.prefix { Self.modifiers.contains($0.text) }
          // `class` is a modifier before `func` and `var`, and the keyword before any other word.
          var rest = words.dropFirst(before.count)
          if rest.first.map({ !Self.keywords.contains($0.text) && $0.text != "extension" }) == true,
            before.last?.text == "class"
          {
            rest = words.dropFirst(before.count - 1)
          }
          guard let keyword = rest.first?.text, let name = rest.dropFirst().first?.text else {
            continue
          }
          let isPrivate = before.contains { $0.text.hasSuffix("private") }
          switch words[0].column {
          case 0...1:
            isInExtension = keyword == "extension"
            guard !isPrivate, Self.keywords.contains(keyword) else { continue }
            if Self.typeKeywords.contains(keyword) {
              types[name] = folder
            } else {
              others[name] = folder
            }
          case 2...3 where isInExtension && !isPrivate && keyword != "case" && keyword != "for":
            if Self.keywords.contains(keyword) { others[name] = folder }
          default: break
          }
        }
      }
      others = others.filter {
        counts[$0.key] == 1 && types[$0.key] == nil && !Self.standard.contains($0.key)
      }
    }

    /// Counts the names that a line declares.
    private static func count(_ words: [Word], in counts: inout [String: Int]) {
      for (index, word) in words.enumerated() {
        let isDeclared = index > 0 && keywords.contains(words[index - 1].text)
        let isParameter = index + 1 < words.count && words[index + 1].text == "in"
        if isDeclared || word.isLabel || isParameter { counts[word.text, default: 0] += 1 }
      }
    }

    func folder(of word: Word) -> String? {
      word.isMember ? others[word.text] : types[word.text] ?? others[word.text]
    }
  }
}
