import Foundation

/// Reads the compiled model of a store without a database library.
enum StoreFile {
  /// The content of the model cache, which is the file's only record that is one long blob.
  static func modelCache(of url: URL) throws -> [UInt8]? {
    let file = Array(try Data(contentsOf: url))
    let pageSize = Int(file[16]) << 8 | Int(file[17])
    for page in stride(from: pageSize, to: file.count - pageSize + 1, by: pageSize)
    where file[page] == 0x0D {
      for cell in 0..<number(file, page + 3, 2) {
        var offset = page + number(file, page + 8 + 2 * cell, 2)
        let payloadSize = varint(file, &offset)
        _ = varint(file, &offset)
        let record = payload(file, offset, payloadSize, pageSize)
        var position = 0
        let headerSize = varint(record, &position)
        guard headerSize == 3 || headerSize == 4 else { continue }
        let type = varint(record, &position)
        if position == headerSize, type > 100, type.isMultiple(of: 2) {
          return Array(record[headerSize...])
        }
      }
    }
    return nil
  }

  private static func number(_ bytes: [UInt8], _ offset: Int, _ size: Int) -> Int {
    bytes[offset..<offset + size].reduce(0) { $0 << 8 | Int($1) }
  }

  private static func varint(_ bytes: [UInt8], _ offset: inout Int) -> Int {
    var value = 0
    repeat {
      value = value << 7 | Int(bytes[offset] & 0x7F)
      offset += 1
    } while bytes[offset - 1] >= 0x80
    return value
  }

  /// The payload of a cell, including its overflow pages.
  private static func payload(
    _ file: [UInt8], _ offset: Int, _ size: Int, _ pageSize: Int
  ) -> [UInt8] {
    let usable = pageSize - Int(file[20])
    guard size > usable - 35 else { return Array(file[offset..<offset + size]) }
    let least = (usable - 12) * 32 / 255 - 23
    let fitting = least + (size - least) % (usable - 4)
    let local = fitting <= usable - 35 ? fitting : least
    var bytes = Array(file[offset..<offset + local])
    var next = number(file, offset + local, 4)
    while bytes.count < size, next > 0 {
      let page = (next - 1) * pageSize
      let count = min(usable - 4, size - bytes.count)
      bytes += file[(page + 4)..<(page + 4 + count)]
      next = number(file, page, 4)
    }
    return bytes
  }
}
