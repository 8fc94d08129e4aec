import FieldworkGeometry
import FieldworkREST

extension Route {
    /// Files that are sent before the edit that names them.
    static let uploadRoutes: [Route] = [
        Route(.featureServer, "uploads/info", metric: .uploads, needs: .upload) {
            try $0.uploaded(UploadService.info)
        },
        Route(.featureServer, "uploads/upload", .write, metric: .uploads, needs: .upload, body: .files) {
            try $0.uploaded(await $0.uploads.upload($0))
        },
        Route(.featureServer, "uploads/register", .write, metric: .uploads, needs: .upload) {
            try $0.uploaded(await $0.uploads.register($0))
        },
        Route(.featureServer, "uploads/{itemID}", metric: .uploads, needs: .upload) {
            try $0.uploaded(await $0.uploads.info(of: $0))
        },
        Route(.featureServer, "uploads/{itemID}/uploadPart", .write, metric: .uploads, needs: .upload, body: .files) {
            try $0.uploaded(await $0.uploads.uploadPart($0))
        },
        Route(.featureServer, "uploads/{itemID}/append", .write, metric: .uploads, needs: .upload, body: .uploadBytes) {
            try $0.uploaded(await $0.uploads.append($0))
        },
        Route(.featureServer, "uploads/{itemID}/parts", metric: .uploads, needs: .upload) {
            try $0.uploaded(await $0.uploads.parts($0))
        },
        Route(.featureServer, "uploads/{itemID}/commit", .write, metric: .uploads, needs: .upload) {
            try $0.uploaded(await $0.uploads.commit($0))
        },
        Route(.featureServer, "uploads/{itemID}/delete", .write, metric: .uploads, needs: .upload) {
            try $0.uploaded(await $0.uploads.delete($0))
        },
    ]
}

extension RouteContext {
    fileprivate func uploaded(_ json: JSONValue) throws -> Answer { .json(json, format: try jsonFormat) }
}
