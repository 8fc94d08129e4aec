// Who imports Fieldwork speaks of points and polygons as well.
@_exported public import FieldworkGeometry
