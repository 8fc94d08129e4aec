import Crypto
import Foundation

/// Random texts that open something, and the hashes under which they are kept: a database that is read by others holds nothing
/// that opens.
package enum Secret {
    static func bytes(_ count: Int) -> Data {
        var generator = SystemRandomNumberGenerator()
        return Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// 256 random bits, of letters and digits, `-` and `_`.
    package static func make() -> String { urlText(bytes(32)) }

    /// An id of 32 hexadecimal digits, as the protocol's items and groups have.
    package static func id() -> String { hexadecimal(bytes(16)) }

    /// Whether a text has the form of such an id.
    package static func isID(_ text: String) -> Bool {
        text.utf8.count == 32 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    package static func hash(_ secret: String) -> String { hexadecimal(SHA256.hash(data: Data(secret.utf8))) }

    /// What a verifier of PKCE looks like to the authorization endpoint.
    package static func challenge(_ verifier: String) -> String {
        urlText(Data(SHA256.hash(data: Data(verifier.utf8))))
    }

    /// Base 64 for addresses, without padding.
    private static func urlText(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 0xF)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
