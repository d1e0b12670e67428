"""Multilevel."""
from __future__ import annotations
import numpy as np, time
from scipy import sparse
from . import _multilevel_loops as loops

POWER=1.0;BFS=2
class Level:
    __slots__=("indptr","indices","data","diagonal","weights","parent")
    def __init__(self,*a):
        self.indptr,self.indices,self.data,self.diagonal,self.weights=a; self.parent=None
    @property
    def arrays(self): return self.indptr,self.indices,self.data,self.diagonal,self.weights
    @property
    def n(self): return len(self.weights)

def finest(problem):
    A=problem.matrix
    indptr=A.indptr.astype(np.int64); indices=A.indices.astype(np.int32,copy=False); data=A.data.astype(np.float64,copy=False)
    diag=loops.split_diagonal(indptr,indices,data)
    if problem.diagonal is not None: diag+=problem.diagonal
    return Level(indptr,indices,data,diag,np.asarray(problem.weights,float))

def coarsen(level,labels,target,state,rate=4.0):
    """list of levels from given to coarsest"""
    levels=[level]; labs=[labels]
    total=level.weights.sum()
    heaviest=1.5*total/target   # cap
    while levels[-1].n>target*1.3:
        L=levels[-1]
        cap=min(max(rate*total/L.n, 0), heaviest)
        cap=max(cap, 2.0*total/L.n)
        parent,ng=loops.group(L.indptr,L.indices,L.data,L.weights,labs[-1],cap,state,POWER,BFS)
        if ng>0.95*L.n: break
        L.parent=parent
        levels.append(Level(*loops.contract(*L.arrays,parent,ng)))
        if len(labels):
            lab=np.zeros(ng,np.int32); lab[parent]=labs[-1]; labs.append(lab)
        else: labs.append(labels)
    return levels,labs

def agglomerate(level,k,state,fraction=0.25,noise=0.0,rng=None):
    """to exactly k, refine on the way back"""
    levels=[level]
    while levels[-1].n>k:
        L=levels[-1]
        rows=np.repeat(np.arange(L.n,dtype=np.int32),np.diff(L.indptr)); cols=L.indices
        up=rows<cols; a,b,e=rows[up],cols[up],L.data[up]
        ok=e>0; a,b,e=a[ok],b[ok],e[ok]
        if len(a)==0:
            o=np.lexsort((L.weights,np.round(L.diagonal/L.weights,9))).astype(np.int32); a,b=o[:-1],o[1:]; e=np.zeros(len(a))
        r=L.diagonal/L.weights
        loss=r[a]+r[b]-(L.diagonal[a]+L.diagonal[b]+2*e)/(L.weights[a]+L.weights[b])
        if noise: loss=loss-loss.min(); loss=loss*np.exp(noise*rng.standard_normal(len(loss)))
        parent,ng=loops.merge_groups(a,b,np.argsort(loss,kind='stable'),L.n,min(L.n-k,max(1,int(fraction*L.n))))
        L.parent=parent
        levels.append(Level(*loops.contract(*L.arrays,parent,ng)))
    labels=np.arange(k,dtype=np.int32)
    for L in levels[-2::-1]:
        labels=labels[L.parent]
        loops.refine(*L.arrays,labels,k,10*L.n)
    return labels

def E(L,labels,k):
    i,w,c,_=loops.cluster_sums(*L.arrays,labels,k)
    return -(i/w).sum()


NOLAB=np.empty(0,np.int32)
def descend(levels,labels,k,exch,state,tick,per,skip=0):
    for j,L in enumerate(levels[::-1]):
        if j: labels=labels[L.parent]
        if j>=skip: loops.refine(*L.arrays,labels,k,10*L.n)
        if j<len(exch) and exch[j]: loops.exchange(*L.arrays,labels,k,exch[j],state)
    return labels
def multilevel(problem,k,random_state=0,per=25,base=150,rate=20.0,fraction=.25,exch=(300,),starts=1,vbase=0,vfine=0,verbose=False,noise=0.3,ratec=10.,vper=25,vexch=(100,)):
    T=[time.process_time()]
    def tick(s):
        T.append(time.process_time())
        if verbose: print(f"   {s:20s} {1e3*(T[-1]-T[-2]):.1f} ms")
    rng=np.random.default_rng(random_state)
    state=rng.integers(1,2**63,1).astype(np.uint64)
    L0=finest(problem); tick('finest')
    low,_=coarsen(L0,NOLAB,base*k,state,rate); tick('coarsen '+str([l.n for l in low]))
    B=low[-1]
    best=None
    for i in range(starts):
        levels,_=coarsen(B,NOLAB,per*k,state,ratec); tick('coarsen '+str([l.n for l in levels]))
        top=levels[-1]
        labels=agglomerate(top,k,state,fraction,noise if i else 0.0,rng); tick('agglo')
        labels=descend(levels,labels,k,exch,state,tick,per); e=E(B,labels,k); tick(f'start {k+e:.4f}')
        for v in range(vbase):
            levels,labs=coarsen(B,labels,vper*k,state,ratec)
            labels=descend(levels,labs[-1],k,vexch,state,tick,per); e=E(B,labels,k); tick(f'vcycle {k+e:.4f}')
        if best is None or e<best[0]: best=(e,labels)
    labels=descend(low,best[1],k,(),state,tick,per,1); tick(f'fine {k+E(L0,labels,k):.4f}')
    for v in range(vfine):
        levels,labs=coarsen(L0,labels,vper*k,state,rate)
        labels=descend(levels,labs[-1],k,vexch,state,tick,per); e=E(L0,labels,k); tick(f'vcycle {k+e:.4f}')
    return labels
