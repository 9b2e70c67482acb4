public import OpenCoreData

/// The colors of a mood, taken from a picture.
///
/// A picture is a portable pixmap (`P6` of Netpbm), which needs no library to read. `djpeg`,
/// `pngtopnm`, and `ffmpeg` convert others.
public struct PictureColors {
  /// The largest number of pixels that a picture may have.
  public static let maximumPixelCount = 100_000_000

  private var bins = [Bin](repeating: Bin(), count: 4096)

  /// Pixels whose colors have the same four most significant bits in each component.
  private struct Bin {
    var count = 0
    var red = 0
    var green = 0
    var blue = 0
  }

  /// Reads a picture.
  ///
  /// **Cost**: one pass over the pixels; no copy of them.
  ///
  /// - Parameter data: The bytes of a portable pixmap.
  /// - Throws: `PictureError` with the offset of what can't be read.
  public init(portablePixmap data: Data) throws {
    var header = PixmapHeader(bytes: [UInt8](data.prefix(PixmapHeader.maximumLength)))
    let (width, height, maximum) = try header.read()
    let size = maximum > 255 ? 2 : 1
    guard width <= PictureColors.maximumPixelCount / height else {
      throw PictureError(
        offset: 0,
        message: "the picture has more than \(PictureColors.maximumPixelCount) pixels")
    }
    let length = width * height * 3 * size
    let start = header.offset
    let present = max(data.count - start, 0)
    guard present >= length else {
      throw PictureError(
        offset: data.count, message: "the picture ends after \(present) of \(length) bytes")
    }
    data.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) in
      func component(_ index: Int) -> Int {
        let value =
          size == 1
          ? Int(bytes[start + index])
          : Int(bytes[start + 2 * index]) << 8 | Int(bytes[start + 2 * index + 1])
        return min(value, maximum) * 255 / maximum
      }
      for pixel in stride(from: 0, to: width * height * 3, by: 3) {
        let (red, green, blue) = (component(pixel), component(pixel + 1), component(pixel + 2))
        let index = (red >> 4) << 8 | (green >> 4) << 4 | blue >> 4
        bins[index].count += 1
        bins[index].red += red
        bins[index].green += green
        bins[index].blue += blue
      }
    }
  }

  /// Returns the dominant colors with three bytes each, the most frequent first: the value of
  /// `Mood.colors`.
  ///
  /// Colors that hardly differ from a more frequent one are left out, so there can be fewer than
  /// `count`.
  public func dominant(_ count: Int = 6) -> Data {
    var chosen: [(red: Int, green: Int, blue: Int)] = []
    let byFrequency = bins.indices.filter { bins[$0].count > 0 }
      .sorted { (bins[$1].count, $0) < (bins[$0].count, $1) }
    for index in byFrequency where chosen.count < count {
      let bin = bins[index]
      let color = (bin.red / bin.count, bin.green / bin.count, bin.blue / bin.count)
      let isNew = chosen.allSatisfy { other in
        let (red, green, blue) = (color.0 - other.red, color.1 - other.green, color.2 - other.blue)
        return red * red + green * green + blue * blue > 48 * 48
      }
      if isNew { chosen.append(color) }
    }
    return Data(chosen.flatMap { [UInt8($0.red), UInt8($0.green), UInt8($0.blue)] })
  }
}

/// An error in the bytes of a picture.
public struct PictureError: Error, CustomStringConvertible {
  /// The offset of what can't be read, in bytes.
  public let offset: Int
  /// What's wrong.
  public let message: String

  /// The message with the offset.
  public var description: String { "byte \(offset): \(message)" }
}

/// The header of a portable pixmap: a magic number and three numbers, separated by white space and
/// comments.
private struct PixmapHeader {
  /// Longer headers are rejected.
  static let maximumLength = 4096

  let bytes: [UInt8]
  /// The offset of the first byte that wasn't read.
  private(set) var offset = 0

  init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  mutating func read() throws -> (width: Int, height: Int, maximum: Int) {
    guard bytes.starts(with: Array("P6".utf8)) else {
      throw PictureError(
        offset: 0,
        message:
          "this isn't a portable pixmap (P6); convert a picture with djpeg, pngtopnm, or ffmpeg")
    }
    offset = 2
    let (width, height) = (try number("width", 1...1_000_000), try number("height", 1...1_000_000))
    let maximum = try number("maximum value", 1...65_535)
    // A single white space separates the header from the pixels.
    guard offset == bytes.count || PixmapHeader.isSpace(bytes[offset]) else {
      throw error("white space is missing before the pixels")
    }
    offset += 1
    return (width, height, maximum)
  }

  private mutating func number(_ name: String, _ limits: ClosedRange<Int>) throws -> Int {
    let before = offset
    skipSpace()
    guard offset > before else { throw error("white space is missing before the \(name)") }
    let start = offset
    var value = 0
    while offset < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[offset]) {
      value = min(value * 10 + Int(bytes[offset] - UInt8(ascii: "0")), limits.upperBound + 1)
      offset += 1
    }
    guard offset > start else { throw error("the \(name) isn't a number") }
    guard limits.contains(value) else {
      offset = start
      throw error("the \(name) isn't from \(limits.lowerBound) to \(limits.upperBound)")
    }
    return value
  }

  private mutating func skipSpace() {
    while offset < bytes.count {
      if bytes[offset] == UInt8(ascii: "#") {
        while offset < bytes.count, bytes[offset] != UInt8(ascii: "\n") { offset += 1 }
      } else if PixmapHeader.isSpace(bytes[offset]) {
        offset += 1
      } else {
        return
      }
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || (9...13).contains(byte)
  }

  private func error(_ message: String) -> PictureError {
    PictureError(offset: offset, message: message)
  }
}
