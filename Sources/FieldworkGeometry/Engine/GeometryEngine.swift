/// Operations on geometries, over GEOS and PROJ. All functions are pure; they may be called from any task.
public enum GeometryEngine {}
