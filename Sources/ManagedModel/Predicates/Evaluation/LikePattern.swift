/// A pattern of `LIKE`, taken apart once.
///
/// A character is a Unicode scalar, as it is to SQLite.
package struct LikePattern {
  private enum Piece: Equatable {
    case scalar(Unicode.Scalar)
    case one
    case any
  }

  private let pieces: [Piece]

  /// Reads a pattern of `LIKE`: `?` for one character, `*` for any number of them.
  package init(_ pattern: String) {
    var pieces: [Piece] = []
    var isEscaped = false
    for scalar in pattern.unicodeScalars {
      if isEscaped {
        pieces.append(.scalar(scalar))
        isEscaped = false
      } else {
        switch scalar {
        case "\\": isEscaped = true
        case "?": pieces.append(.one)
        case "*": if pieces.last != .any { pieces.append(.any) }
        default: pieces.append(.scalar(scalar))
        }
      }
    }
    if isEscaped { pieces.append(.scalar("\\")) }
    self.pieces = pieces
  }

  /// Whether the whole text matches.
  ///
  /// Cost: at worst the product of the lengths.
  package func matches(_ text: String) -> Bool {
    let scalars = Array(text.unicodeScalars)
    var (piece, position) = (0, 0)
    var retry: (piece: Int, position: Int)?
    while position < scalars.count {
      if piece < pieces.count, pieces[piece] == .any {
        retry = (piece, position)
        piece += 1
      } else if piece < pieces.count,
        pieces[piece] == .one || pieces[piece] == .scalar(scalars[position])
      {
        piece += 1
        position += 1
      } else if let last = retry {
        // The last star takes one character more.
        retry = (last.piece, last.position + 1)
        piece = last.piece + 1
        position = last.position + 1
      } else {
        return false
      }
    }
    return pieces[piece...].allSatisfy { $0 == .any }
  }
}
